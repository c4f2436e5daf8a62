package dev.sluice.samples.inspect;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.InspectionReport;
import dev.sluice.samples.report.Json;
import dev.sluice.samples.report.PresetName;
import io.netty.buffer.Unpooled;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.PushbackInputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code inspect}, which shows the parts of a multipart body. */
@Command(
        name = "inspect",
        description = "Shows the parts of a multipart body.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "A nested multipart/mixed body is shown as one part, undecoded. A form",
            "with the preset compatible contains the nested parts instead."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the body is valid", "1:the body or the Content-Type is invalid", "2:usage or I/O error"})
public final class InspectCommand implements Callable<Integer> {
    private static final int MAX_CHUNK = 16 << 20;
    /** The number of bytes to keep for the hex dump, more than the largest header section or epilogue. */
    private static final int LOOK_BACK = 32 << 10;
    /** Bytes to read after an error, for the hex dump. */
    private static final int LOOK_AHEAD = 64;

    private static final int LONG_INPUT = 32 << 20;

    /** The length of a line end, two dashes, the longest boundary that a preset accepts, and a line end. */
    private static final int FIRST_LINE = 2 + 2 + 256 + 2;

    /** A delimiter line at the start of a body. */
    private static final Pattern DELIMITER = Pattern.compile("(?:\r?\n)?--([^\r\n\"\\\\]{1,256}?)(?:--)?[ \t]*\r?\n");

    /** The start of a saved request: an HTTP request line, or a header field. */
    private static final Pattern REQUEST = Pattern.compile("[A-Z]+ [^ \r\n]+ HTTP/|[A-Za-z-]+: ");

    private static final Pattern FORM = Pattern.compile("^multipart/form-data", Pattern.CASE_INSENSITIVE);
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[\\u0000-\\uffff]]");

    @Option(
            names = "--content-type",
            paramLabel = "TYPE",
            description = "Content-Type of the body, such as 'multipart/form-data; boundary=xyz' "
                    + "(default: form-data, with the boundary in the first line of the body).")
    private @Nullable String contentType;

    @Option(
            names = "--preset",
            paramLabel = "PRESET",
            description = "Strictness: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
            defaultValue = "standard")
    private PresetName preset = PresetName.standard;

    @Option(
            names = "--chunk",
            paramLabel = "N",
            description =
                    "Bytes to decode at a time (default: ${DEFAULT-VALUE}). " + "The result is the same for every N.",
            defaultValue = "65536")
    private int chunk;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    @Option(
            names = "--color",
            paramLabel = "WHEN",
            description = "Use colours: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
            defaultValue = "auto")
    private Colour colour = Colour.auto;

    @Parameters(paramLabel = "FILE", description = "The file to read, or - for standard input.")
    private String file = "-";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private enum Colour {
        auto,
        always,
        never
    }

    @Override
    public Integer call() {
        if (chunk < 1 || chunk > MAX_CHUNK) {
            throw new ParameterException(spec.commandLine(), "--chunk must be 1-" + MAX_CHUNK + ", not " + chunk);
        }
        PrintWriter out = spec.commandLine().getOut();
        Ansi ansi = colour == Colour.auto ? Ansi.AUTO : Ansi.valueOf(colour == Colour.always);
        BodyPicture picture =
                new BodyPicture(json ? new PrintWriter(Writer.nullWriter()) : out, ansi, chunk + LOOK_BACK);
        PrintWriter err = spec.commandLine().getErr();
        try (PushbackInputStream in = new PushbackInputStream(open(), FIRST_LINE)) {
            String type = contentType == null ? guessed(in) : contentType;
            InspectionReport report = inspect(in, type, preset, picture);
            if (json) {
                String text = new String(Json.bytes(report), StandardCharsets.UTF_8);
                // JSON allows characters that a terminal would interpret.
                out.println(INVISIBLE
                        .matcher(text)
                        .replaceAll(c -> "\\\\u%04x".formatted((int) c.group().charAt(0))));
            }
            out.flush();
            ErrorResponse error = report.error();
            if (error == null) {
                return ExitCode.OK;
            }
            PresetName other = acceptingPreset(type);
            String mixed = FORM.matcher(type).replaceFirst("multipart/mixed");
            if (other != null) {
                err.println("Try --preset=" + other + ", which accepts this body.");
            } else if (!mixed.equals(type) && accepts(mixed, preset)) {
                err.println("Try --content-type='" + mixed + "', which accepts this body. "
                        + "The type can also be multipart/related, multipart/byteranges or another multipart type.");
            } else if (error.reason().equals(Reason.MISSING_BOUNDARY.name())) {
                err.println("Omit --content-type to use the boundary in the first line of the body.");
            }
            return ExitCode.SOFTWARE;
        } catch (FileNotFoundException e) {
            Path path = Path.of(file);
            String other = Files.exists(path) ? e.getMessage() : file + ": no such file"; // for example permissions
            err.println("cannot read " + (Files.isDirectory(path) ? file + ": it is a directory" : other));
        } catch (IOException e) {
            err.println("cannot read " + file + ": " + e.getMessage());
        }
        return ExitCode.USAGE;
    }

    /** {@return the Content-Type of a form with the boundary in the first line} */
    private String guessed(PushbackInputStream in) throws IOException {
        byte[] start = in.readNBytes(FIRST_LINE);
        in.unread(start);
        String text = new String(start, StandardCharsets.ISO_8859_1);
        Matcher line = DELIMITER.matcher(text);
        if (line.lookingAt()) {
            return "multipart/form-data; boundary=\"" + line.group(1) + '"';
        }
        String wrong = "the body does not begin with a delimiter line '--boundary': pass --content-type=TYPE";
        if (text.isEmpty()) {
            wrong = file + " is empty";
        } else if (REQUEST.matcher(text).lookingAt()) {
            wrong = "the file begins with a request head: pass only the body, which follows the first empty line";
        }
        throw new ParameterException(spec.commandLine(), wrong);
    }

    /** {@return a preset that accepts the file, or null} */
    private @Nullable PresetName acceptingPreset(String type) throws IOException {
        for (PresetName other : List.of(PresetName.standard, PresetName.compatible)) {
            if (accepts(type, other)) {
                return other;
            }
        }
        return null;
    }

    /** {@return whether the file is accepted; false if the input is a pipe and cannot be read again} */
    private boolean accepts(String type, PresetName by) throws IOException {
        if (file.equals("-") || !Files.isRegularFile(Path.of(file))) {
            return false;
        }
        try (InputStream in = new FileInputStream(file)) {
            BodyPicture unseen = new BodyPicture(new PrintWriter(Writer.nullWriter()), Ansi.OFF, chunk + LOOK_BACK);
            return inspect(in, type, by, unseen).error() == null;
        }
    }

    /** {@return the input, with a progress bar if it is long and the output is a terminal} */
    private InputStream open() throws IOException {
        if (file.equals("-")) {
            return System.in;
        }
        InputStream in = new FileInputStream(file); // ProgressBar can determine the length of a FileInputStream only
        return in.available() >= LONG_INPUT && Ansi.AUTO.enabled() ? ProgressBar.wrap(in, "inspect") : in;
    }

    private InspectionReport inspect(InputStream in, String type, PresetName accepted, BodyPicture picture)
            throws IOException {
        Boundary boundary;
        try {
            boundary = Boundary.anyMultipart(type, accepted.preset());
        } catch (MultipartException e) {
            return picture.end(List.of(), 0, ErrorResponse.of(e));
        }
        picture.begin(boundary);
        MultipartOptions options =
                MultipartOptions.builder().preset(accepted.preset()).build();
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, options)) {
            try {
                for (byte[] bytes; (bytes = in.readNBytes(chunk)).length > 0; ) {
                    picture.read(bytes);
                    decoder.feed(Unpooled.wrappedBuffer(bytes));
                    picture.addAll(decoder);
                }
                decoder.finish();
                picture.addAll(decoder);
                return picture.end(decoder.deviations(), decoder.offset(), null);
            } catch (MultipartException e) {
                picture.read(in.readNBytes(LOOK_AHEAD));
                return picture.end(decoder.deviations(), e.offset(), ErrorResponse.of(e));
            }
        }
    }
}
