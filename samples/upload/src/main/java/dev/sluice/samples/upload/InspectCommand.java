package dev.sluice.samples.upload;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.InspectionReport;
import dev.sluice.samples.report.Json;
import dev.sluice.samples.report.PresetName;
import io.netty.buffer.Unpooled;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
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
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the body is good", "1:the body or the Content-Type is bad", "2:wrong use, or I/O"})
final class InspectCommand implements Callable<Integer> {
    private static final int MAX_CHUNK = 16 << 20;
    /** More than a header section and an epilogue may have: what the picture looks back on. */
    private static final int LOOK_BACK = 32 << 10;
    /** Read after an error, to show what follows it. */
    private static final int LOOK_AHEAD = 64;

    private static final int LONG_INPUT = 32 << 20;

    @Option(
            names = "--content-type",
            required = true,
            paramLabel = "TYPE",
            description = "Content-Type of the body, such as 'multipart/form-data; boundary=xyz'.")
    private String contentType = "";

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
        try (InputStream in = open()) {
            InspectionReport report = inspect(in, picture);
            if (json) {
                out.println(new String(Json.bytes(report), StandardCharsets.UTF_8));
            }
            out.flush();
            return report.error() == null ? ExitCode.OK : ExitCode.SOFTWARE;
        } catch (IOException e) {
            spec.commandLine().getErr().println("cannot read " + file + ": " + e);
            return ExitCode.USAGE;
        }
    }

    /** {@return the input, with a progress bar where it is long and somebody watches} */
    private InputStream open() throws IOException {
        if (file.equals("-")) {
            return System.in;
        }
        InputStream in = new FileInputStream(file); // such a stream the progress bar can ask for its length
        return in.available() >= LONG_INPUT && Ansi.AUTO.enabled() ? ProgressBar.wrap(in, "inspect") : in;
    }

    private InspectionReport inspect(InputStream in, BodyPicture picture) throws IOException {
        Boundary boundary;
        try {
            boundary = Boundary.from(contentType, preset.preset());
        } catch (MultipartException e) {
            return picture.end(List.of(), 0, ErrorAnswer.of(e));
        }
        picture.begin(boundary);
        MultipartOptions options =
                MultipartOptions.builder().preset(preset.preset()).build();
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
