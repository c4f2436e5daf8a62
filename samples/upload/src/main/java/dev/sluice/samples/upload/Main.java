package dev.sluice.samples.upload;

import dev.sluice.samples.inspect.InspectCommand;
import dev.sluice.samples.report.Version;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program: {@code java -jar sluice.jar serve}, {@code inspect} and {@code sweep}. */
@Command(
        name = "sluice",
        description = "Receives multipart/form-data uploads, and shows what is in a multipart body.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {ServeCommand.class, InspectCommand.class, SweepCommand.class})
public final class Main {
    private Main() {}

    /** Runs the program and ends the process: 0 if all is well, 1 for a bad body, 2 for wrong use or I/O. */
    public static void main(String[] args) {
        // What is shown is UTF-8 wherever it goes; the platform's own charset cannot show every name.
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = commandLine(out, err).execute(args);
        out.flush();
        err.flush();
        System.exit(code);
    }

    /** {@return the program with its output going elsewhere} */
    static CommandLine commandLine(PrintWriter out, PrintWriter err) {
        CommandLine commandLine = new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(out)
                .setErr(err);
        commandLine.setParameterExceptionHandler((wrong, arguments) -> {
            CommandLine command = wrong.getCommandLine();
            boolean bare = wrong.getClass() == CommandLine.ParameterException.class
                    && !command.getSubcommands().isEmpty(); // no other error of the program itself is so plain
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
