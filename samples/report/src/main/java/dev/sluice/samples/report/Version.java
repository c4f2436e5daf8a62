package dev.sluice.samples.report;

import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The program's version, from the manifest of its jar. */
public final class Version implements IVersionProvider {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public String[] getVersion() {
        String version = spec.userObject().getClass().getPackage().getImplementationVersion();
        return new String[] {spec.root().name() + " " + (version == null ? "(not from a jar)" : version)};
    }
}
