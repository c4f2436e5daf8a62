package dev.sluice.samples.upload;

import dev.sluice.samples.inspect.InspectCommand;
import dev.sluice.samples.report.Version;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point: {@code java -jar sluice.jar serve}, {@code inspect} and {@code sweep}. */
@Command(
        name = "sluice",
        description = "Receives multipart/form-data uploads, and inspects multipart bodies.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {ServeCommand.class, InspectCommand.class, SweepCommand.class})
public final class Main {
    private Main() {}

    /** Runs the program and exits with 0 on success, 1 for an invalid body, 2 for a usage or I/O error. */
    public static void main(String[] args) {
        // The output is always UTF-8, because the platform's charset may lack characters of a file name.
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = commandLine(out, err).execute(args);
        out.flush();
        err.flush();
        System.exit(code);
    }

    /** {@return the program with its output redirected} */
    static CommandLine commandLine(PrintWriter out, PrintWriter err) {
        CommandLine commandLine = new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(out)
                .setErr(err);
        commandLine.setParameterExceptionHandler((wrong, arguments) -> {
            CommandLine command = wrong.getCommandLine();
            boolean bare = wrong.getClass() == CommandLine.ParameterException.class
                    && !command.getSubcommands().isEmpty(); // this error has no useful message of its own
            err.println(
                    bare
                            ? "Pass a command: "
                                    + String.join(", ", command.getSubcommands().keySet())
                            : wrong.getMessage());
            CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
            err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
            return CommandLine.ExitCode.USAGE;
        });
        commandLine.setExecutionExceptionHandler((failure, command, parsed) -> {
            failure.printStackTrace(err);
            return CommandLine.ExitCode.USAGE;
        });
        return commandLine;
    }
}
