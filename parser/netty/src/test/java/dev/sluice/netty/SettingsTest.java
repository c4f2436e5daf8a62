package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.SettingCase;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Settings take effect in the handler, whether they are set for all forms or by the receiver of one. */
@ExtendWith(LeakCheck.class)
class SettingsTest {
    enum Entrance {
        FORMS,
        RECEIVER
    }

    @TempDir
    private Path directory;

    private EmbeddedChannel channel = new EmbeddedChannel();
    private int reads;
    private @Nullable SpoolDirectory spool;

    /** A receiver that responds with the parts of the form, or with the reason of its failure. */
    private record Receiver(UnaryOperator<FormOptions> change) implements FormReceiver {
        @Override
        public FormOptions options(FormOptions defaults) {
            return change.apply(defaults);
        }

        @Override
        public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws IOException {
            List<String> parts = new ArrayList<>();
            for (FormPart part : form.parts()) {
                String kept = part.isInMemory() ? "" : " in a file";
                parts.add(SettingCase.shown(part.name(), part.filename(), part.text()) + kept);
            }
            return CompletableFuture.completedStage(answer(String.join(" ", parts)));
        }

        @Override
        public FullHttpResponse failed(Throwable failure) {
            return answer("!" + (failure instanceof MultipartException e ? e.reason() : failure));
        }

        private static FullHttpResponse answer(String text) {
            FullHttpResponse response = Upload.text(200, "");
            response.content().writeBytes(text.getBytes(StandardCharsets.UTF_8));
            return response;
        }
    }

    @AfterEach
    void close() throws IOException {
        channel.finishAndReleaseAll();
        if (spool != null) {
            spool.close();
        }
    }

    /** {@return options with the given settings: names and text values in turn} */
    private FormOptions options(String... settings) throws IOException {
        Map<Setting, String> values = new LinkedHashMap<>();
        for (int i = 0; i < settings.length; i += 2) {
            values.put(Setting.of(settings[i]), settings[i + 1]);
        }
        String files = values.getOrDefault(
                Setting.DIRECTORY, directory.resolve("spool").toString());
        values.remove(Setting.DIRECTORY);
        spool = SpoolDirectory.open(Path.of(files));
        FormOptions.Builder builder = FormOptions.builder(spool, MemoryBudget.of(1 << 20));
        values.forEach(builder::set);
        return builder.build();
    }

    private void open(Entrance entrance, FormOptions options, UnaryOperator<FormOptions.Builder> more) {
        FormOptions usual = FormOptions.inMemory(MemoryBudget.of(1 << 20)).build();
        Forms forms = Forms.of(entrance == Entrance.FORMS ? options : usual);
        Receiver receiver =
                new Receiver(defaults -> more.apply((entrance == Entrance.RECEIVER ? options : defaults).toBuilder())
                        .build());
        channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline()
                .addLast(
                        new ChannelOutboundHandlerAdapter() {
                            @Override
                            public void read(ChannelHandlerContext ctx) {
                                reads++;
                                ctx.read();
                            }
                        },
                        MultipartHandlers.builder(forms, request -> receiver, Runnable::run)
                                .drainTimeout(Duration.ofMinutes(1))
                                .build()
                                .newHandler());
        channel.runPendingTasks();
    }

    private static HttpRequest head(String type) {
        HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        head.headers().set("Content-Type", type);
        return head;
    }

    private void send(byte[] bytes) {
        channel.writeInbound(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)));
    }

    private @Nullable String answer() {
        channel.runPendingTasks();
        FullHttpResponse response = channel.readOutbound();
        try {
            return response == null ? null : response.content().toString(StandardCharsets.UTF_8);
        } finally {
            ReferenceCountUtil.release(response);
        }
    }

    /** {@code SettingsTest} of the filter tests all settings, whose options are passed on in the same way. */
    @ParameterizedTest
    @EnumSource
    void options_takeEffect(Entrance entrance) throws IOException {
        byte[] body = "--x\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\nvv\r\n--x--"
                .getBytes(StandardCharsets.US_ASCII);
        for (String[] each : new String[][] {
            {"a(f)=vv"}, {"!PART_TOO_LARGE", "maxPartBytes", "1"}, {"a(f)=vv in a file", "spillThreshold", "1"}
        }) {
            open(entrance, options(Arrays.copyOfRange(each, 1, each.length)), more -> more);
            channel.writeInbound(head(Upload.TYPE));
            send(body);
            channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
            assertEquals(each[0], answer());
            close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void maxDrainBytes_boundsTheReadsAfterARejection(Entrance entrance) throws IOException {
        open(entrance, options("maxDrainBytes", "99"), more -> more);
        channel.writeInbound(head("text/plain"));
        assertEquals("!UNSUPPORTED_MEDIA_TYPE", answer());
        channel.runPendingTasks();
        int before = reads;
        send(new byte[99]);
        assertEquals(before + 1, reads);
        send(new byte[1]);
        assertEquals(before + 1, reads);
    }

    /** @param expected the response to a client that sends {@code bytes}, and then nothing for {@code millis} */
    @ParameterizedTest
    @CsvSource({
        "'', 0, 20, false,",
        "minRateGrace 1ms, 0, 20, false, !CLIENT_TOO_SLOW",
        "minRateGrace 1ms minBytesPerSecond none, 0, 20, false,",
        "minRateGrace 500ms, 2880, 600, false,", // credit for 6 seconds
        "minRateGrace 500ms minBytesPerSecond 1GiB, 2880, 600, false, !CLIENT_TOO_SLOW",
        "'', 100, 20, true,",
        "maxSinkWait 1ms, 100, 20, true, !SINK_STALLED"
    })
    void timeouts_takeEffect(String settings, int bytes, int millis, boolean stalled, @Nullable String expected)
            throws IOException {
        String[] given = settings.isEmpty() ? new String[0] : settings.split(" ");
        for (Entrance entrance : Entrance.values()) {
            Upload sink = new Upload().shut();
            open(entrance, options(given), more -> stalled ? more.decider(part -> PartDecision.to(sink)) : more);
            channel.writeInbound(head(Upload.TYPE));
            send(("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n" + "v".repeat(bytes))
                    .getBytes(StandardCharsets.US_ASCII));
            Eventually.after(millis); // the rate of the client is measured in real time
            channel.advanceTimeBy(2, TimeUnit.SECONDS); // for the handler's timer
            channel.runScheduledPendingTasks();
            assertEquals(expected, answer(), entrance.name());
            close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void files_areWrittenToTheDirectory(Entrance entrance) throws IOException {
        Path other = directory.resolve("other");
        open(entrance, options("directory", other.toString()), more -> more);
        channel.writeInbound(head(Upload.TYPE));
        send(Upload.body(100_000));
        try (Stream<Path> files = Files.walk(other)) {
            assertTrue(files.anyMatch(file -> file.toFile().length() >= 64 << 10));
        }
    }
}
