package dev.sluice.samples.inspect;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.samples.report.ErrorAnswer;
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

/** {@code inspect}: shows what is in a multipart body. */
@Command(
        name = "inspect",
        description = "Shows what is in a multipart body.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "A nested multipart/mixed body is shown as it is sent, as one part. A form",
            "with the preset compatible has the parts in it instead."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the body is good", "1:the body or the Content-Type is bad", "2:wrong use, or I/O"})
public final class InspectCommand implements Callable<Integer> {
    private static final int MAX_CHUNK = 16 << 20;
    /** More than a header section and an epilogue may have: what the picture looks back on. */
    private static final int LOOK_BACK = 32 << 10;
    /** Read after an error, to show what follows it. */
    private static final int LOOK_AHEAD = 64;

    private static final int LONG_INPUT = 32 << 20;

    /** Two dashes, the longest boundary that a preset takes, and line ends around it. */
    private static final int FIRST_LINE = 2 + 2 + 256 + 2;

    /** The line of a delimiter at the start of a body. */
    private static final Pattern DELIMITER = Pattern.compile("(?:\r?\n)?--([^\r\n\"\\\\]{1,256}?)(?:--)?[ \t]*\r?\n");

    /** The request line of HTTP/1.1, or a header field of a request that was saved without one. */
    private static final Pattern REQUEST = Pattern.compile("[A-Z]+ [^ \r\n]+ HTTP/|[A-Za-z-]+: ");

    private static final Pattern STEERS = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[\\u0000-\\uffff]]");

    @Option(
            names = "--content-type",
            paramLabel = "TYPE",
            description = "Content-Type of the body, such as 'multipart/form-data; boundary=xyz' "
                    + "(default: form-data, with the boundary of the first line of the body).")
    private @Nullable String contentType;

    @Option(
            names = "--preset",
            paramLabel = "PRESET",
            description = "What is accepted: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
            defaultValue = "standard")
    private PresetName preset = PresetName.standard;

    @Option(
            names = "--chunk",
            paramLabel = "N",
            description = "Bytes that the decoder is given at a time (default: ${DEFAULT-VALUE}). "
                    + "The result is the same for every N.",
            defaultValue = "65536")
    private int chunk;

    @Option(names = "--json", description = "Print one JSON object instead of a picture.")
    private boolean json;

    @Option(
            names = "--color",
            paramLabel = "WHEN",
            description = "Use colours: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
            defaultValue = "auto")
    private Colour colour = Colour.auto;

    @Parameters(paramLabel = "FILE", description = "File with the body, or - for standard input.")
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
            throw new ParameterException(spec.commandLine(), "--chunk has to be 1-" + MAX_CHUNK + ", not " + chunk);
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
                // A terminal may obey what is no control to JSON.
                out.println(STEERS.matcher(text)
                        .replaceAll(c -> "\\\\u%04x".formatted((int) c.group().charAt(0))));
            }
            out.flush();
            ErrorAnswer error = report.error();
            if (error == null) {
                return ExitCode.OK;
            }
            PresetName other = taker(type);
            if (other != null) {
                err.println("Try --preset=" + other + ": it takes this body.");
            } else if (error.reason().equals(Reason.MISSING_BOUNDARY.name())) {
                err.println("Without --content-type the boundary is that of the first line of the body.");
            }
            return ExitCode.SOFTWARE;
        } catch (FileNotFoundException e) {
            Path path = Path.of(file);
            String other = Files.exists(path) ? e.getMessage() : file + ": no such file"; // no permission, say
            err.println("cannot read " + (Files.isDirectory(path) ? file + ": a directory" : other));
        } catch (IOException e) {
            err.println("cannot read " + file + ": " + e.getMessage());
        }
        return ExitCode.USAGE;
    }

    /** {@return the Content-Type of a form whose boundary is that of the first line} */
    private String guessed(PushbackInputStream in) throws IOException {
        byte[] start = in.readNBytes(FIRST_LINE);
        in.unread(start);
        String text = new String(start, StandardCharsets.ISO_8859_1);
        Matcher line = DELIMITER.matcher(text);
        if (line.lookingAt()) {
            return "multipart/form-data; boundary=\"" + line.group(1) + '"';
        }
        String wrong = "the body does not begin with a line '--boundary': pass --content-type=TYPE";
        if (text.isEmpty()) {
            wrong = "there is nothing in " + file;
        } else if (REQUEST.matcher(text).lookingAt()) {
            wrong = "this begins with the head of a request: the body is what follows its first empty line";
        }
        throw new ParameterException(spec.commandLine(), wrong);
    }

    /** {@return a preset that takes the file; null if there is none, or for a pipe, whose bytes are gone} */
    private @Nullable PresetName taker(String type) throws IOException {
        if (file.equals("-") || !Files.isRegularFile(Path.of(file))) {
            return null;
        }
        for (PresetName other : List.of(PresetName.standard, PresetName.compatible)) {
            try (InputStream in = new FileInputStream(file)) {
                BodyPicture unseen = new BodyPicture(new PrintWriter(Writer.nullWriter()), Ansi.OFF, chunk + LOOK_BACK);
                if (inspect(in, type, other, unseen).error() == null) {
                    return other;
                }
            }
        }
        return null;
    }

    /** {@return the input, with a progress bar where it is long and somebody watches} */
    private InputStream open() throws IOException {
        if (file.equals("-")) {
            return System.in;
        }
        InputStream in = new FileInputStream(file); // such a stream the progress bar can ask for its length
        return in.available() >= LONG_INPUT && Ansi.AUTO.enabled() ? ProgressBar.wrap(in, "inspect") : in;
    }

    private InspectionReport inspect(InputStream in, String type, PresetName accepted, BodyPicture picture)
            throws IOException {
        Boundary boundary;
        try {
            boundary = Boundary.from(type, accepted.preset());
        } catch (MultipartException e) {
            return picture.end(List.of(), 0, ErrorAnswer.of(e));
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
                return picture.end(decoder.deviations(), e.offset(), ErrorAnswer.of(e));
            }
        }
    }
}
