package dev.sluice.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code java -jar sluice-bench.jar levels|peers|buffers|endtoend|guard|differential|report|compare}. */
@Command(
        name = "sluice-bench",
        description = "Measures Sluice and the parsers beside it, draws and compares what was recorded.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = {
            MeasureCommand.Levels.class,
            MeasureCommand.Peers.class,
            MeasureCommand.Buffers.class,
            EndToEndCommand.class,
            GuardCommand.class,
            DifferentialCommand.class,
            ReportCommand.class,
            CompareCommand.class
        })
public final class Main {

    private Main() {}

    static final class Version implements CommandLine.IVersionProvider {

        @Override
        public String[] getVersion() {
            return Environment.versions().entrySet().stream()
                    .map(library -> library.getKey() + " " + library.getValue())
                    .toArray(String[]::new);
        }
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }
}
