package dev.sluice.samples.report;

import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The version from the manifest of the jar that a program is in. */
public final class Version implements IVersionProvider {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public String[] getVersion() {
        String version = spec.userObject().getClass().getPackage().getImplementationVersion();
        return new String[] {spec.root().name() + " " + (version == null ? "(not from a jar)" : version)};
    }
}
