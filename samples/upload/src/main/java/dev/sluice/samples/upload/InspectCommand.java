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
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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
        try {
            return inspect();
        } catch (IOException e) {
            spec.commandLine().getErr().println("cannot read " + file + ": " + e);
            return ExitCodes.TROUBLE;
        }
    }

    private int inspect() throws IOException {
        boolean standardInput = file.equals("-");
        try (InputStream in = standardInput ? System.in : Files.newInputStream(Path.of(file))) {
            Boundary boundary;
            try {
                boundary = Boundary.from(contentType, preset.preset());
            } catch (MultipartException e) {
                return answer(new Inspection().refuse(ErrorAnswer.of(e), List.of()), null);
            }
            long size = standardInput ? Progress.UNKNOWN : Files.size(Path.of(file));
            RecentBytes recent = new RecentBytes(chunk + LOOK_BACK);
            BodyPicture picture = new BodyPicture(boundary, recent);
            InspectionReport report;
            try (Progress progress = new Progress(size)) {
                report = decode(in, boundary, recent, picture, progress);
            }
            return answer(report, picture);
        }
    }

    private InspectionReport decode(
            InputStream in, Boundary boundary, RecentBytes recent, BodyPicture picture, Progress progress)
            throws IOException {
        MultipartOptions options =
                MultipartOptions.builder().preset(preset.preset()).build();
        byte[] bytes = new byte[chunk];
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, options);
                Inspection inspection = new Inspection()) {
            try {
                for (int n; (n = in.readNBytes(bytes, 0, chunk)) > 0; ) {
                    recent.add(bytes, n);
                    progress.add(n);
                    decoder.feed(Unpooled.wrappedBuffer(bytes, 0, n));
                    drain(decoder, inspection, picture);
                }
                decoder.finish();
                drain(decoder, inspection, picture);
                return inspection.finish(decoder.offset(), decoder.deviations());
            } catch (MultipartException e) {
                byte[] ahead = in.readNBytes(LOOK_AHEAD);
                recent.add(ahead, ahead.length);
                return inspection.refuse(ErrorAnswer.of(e), decoder.deviations());
            }
        }
    }

    private static void drain(MultipartDecoder decoder, Inspection inspection, BodyPicture picture)
            throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    PartHead head = PartHead.of(decoder);
                    inspection.begin(head);
                    picture.begin(head, decoder.rawHeaders());
                }
                case DATA -> {
                    inspection.data(decoder.data());
                    picture.data(decoder.data());
                }
                case PART_END -> {
                    inspection.end();
                    picture.end();
                }
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    private int answer(InspectionReport report, @Nullable BodyPicture picture) {
        PrintWriter out = spec.commandLine().getOut();
        ErrorAnswer error = report.error();
        boolean coloured = colour == Colour.always || colour == Colour.auto && Ansi.AUTO.enabled();
        if (json) {
            out.println(new String(Json.bytes(report), StandardCharsets.UTF_8));
        } else if (picture != null) {
            picture.print(out, coloured, report);
        } else if (error != null) {
            BodyPicture.printError(out, coloured, error);
        }
        out.flush();
        return error == null ? ExitCodes.GOOD : ExitCodes.BAD_BODY;
    }
}
