package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Setting;
import dev.sluice.testkit.LimitCase;
import dev.sluice.testkit.OneByteStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every limit at N - 1, N and N + 1, with and without file names, through every API. {@code LimitsTest} has more bodies. */
class LimitsThroughEveryApiTest extends SpooledTest {
    private static final Boundary BOUNDARY = Boundary.of("x");

    /** Reads a whole body. */
    private interface Intake {
        void take(byte[] body, MultipartOptions limits, LimitsThroughEveryApiTest test) throws IOException;
    }

    enum Api {
        READER_OF_A_STREAM((body, limits, test) -> readParts(reader(new ByteArrayInputStream(body), limits))),
        READER_OF_A_SLOW_STREAM((body, limits, test) -> readParts(reader(new OneByteStream(body), limits))),
        READER_OF_A_CHANNEL((body, limits, test) -> readParts(
                MultipartReader.create(Channels.newChannel(new ByteArrayInputStream(body)), BOUNDARY, limits))),
        READER_OF_A_SLOW_CHANNEL((body, limits, test) ->
                readParts(MultipartReader.create(Channels.newChannel(new OneByteStream(body)), BOUNDARY, limits))),
        READER_AS_TEXT((body, limits, test) -> readTexts(reader(new ByteArrayInputStream(body), limits))),
        FORM_PUSH((body, limits, test) -> assemble(body, body.length, test.form(limits))),
        FORM_PUSH_BYTE_BY_BYTE((body, limits, test) -> assemble(body, 1, test.form(limits))),
        FORM_READ((body, limits, test) -> readForm(new ByteArrayInputStream(body), test.form(limits))),
        FORM_READ_OF_A_SLOW_STREAM((body, limits, test) -> readForm(new OneByteStream(body), test.form(limits))),
        FORM_IN_FILES((body, limits, test) -> readForm(
                new ByteArrayInputStream(body),
                test.form(limits).toBuilder()
                        .spillThreshold(0)
                        .unlimitedFilesOnDisk()
                        .build())),
        FORM_IN_MEMORY((body, limits, test) -> readForm(
                new ByteArrayInputStream(body),
                test.form(limits).toBuilder()
                        .decider(part -> PartDecision.storeInMemory())
                        .build()));

        private final Intake intake;

        Api(Intake intake) {
            this.intake = intake;
        }

        /** Whether this API reads parts as text, to which another limit applies. */
        boolean readsText() {
            return this == READER_AS_TEXT || name().startsWith("FORM_");
        }

        @Nullable
        MultipartException failure(byte[] body, MultipartOptions limits, LimitsThroughEveryApiTest test)
                throws IOException {
            try {
                intake.take(body, limits, test);
                return null;
            } catch (MultipartException e) {
                return e;
            }
        }
    }

    private static MultipartReader reader(InputStream in, MultipartOptions limits) {
        return MultipartReader.create(in, BOUNDARY, limits);
    }

    private static void readParts(MultipartReader reader) throws IOException {
        try (reader) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                part.transferTo(OutputStream.nullOutputStream());
            }
        }
    }

    private static void readTexts(MultipartReader reader) throws IOException {
        try (reader) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                part.text();
            }
        }
    }

    private FormOptions form(MultipartOptions limits) {
        return FormOptions.builder(spool, budget, limits).build();
    }

    private static void assemble(byte[] body, int chunkSize, FormOptions options) throws IOException {
        try (PushedForm assembler = PushedForm.create(BOUNDARY, options)) {
            Upload.feed(assembler, body, 0, body.length, chunkSize);
            readTexts(assembler.finish());
        }
    }

    private static void readForm(InputStream in, FormOptions options) throws IOException {
        readTexts(PushedForm.read(in, BOUNDARY, options));
    }

    private static void readTexts(MultipartForm form) throws IOException {
        try (form) {
            for (FormPart part : form.parts()) {
                part.text();
            }
        }
    }

    static List<Arguments> everyLimitThroughEveryApi() {
        return LimitCase.all().stream()
                .flatMap(limit -> Stream.of(Api.values())
                        .filter(api -> !limit.text() || api.readsText())
                        .map(api -> Arguments.of(limit, api)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("everyLimitThroughEveryApi")
    void limit_exactValueIsAccepted_oneMoreIsRejected(LimitCase limit, Api api) throws Exception {
        MultipartOptions limits = MultipartOptions.builder()
                .maxHeadersPerPart(1000)
                .set(Setting.of(limit.setting()), String.valueOf(LimitCase.LIMIT))
                .build();
        for (int used : new int[] {LimitCase.LIMIT - 1, LimitCase.LIMIT}) {
            MultipartException failure = api.failure(limit.body().apply(used), limits, this);
            assertNull(failure, () -> used + ": " + failure);
        }
        MultipartException failure = api.failure(limit.body().apply(LimitCase.LIMIT + 1), limits, this);
        if (limit.reason() == null) {
            assertNull(failure, () -> "the limit does not apply to this body: " + failure);
            return;
        }
        assertNotNull(failure);
        assertEquals(limit.reason(), failure.reason().name());
        assertEquals(limit.offset(), failure.offset());
        assertEquals(limit.part(), failure.partIndex());
        assertEquals(413, failure.httpStatus());
        String message = failure.getMessage();
        assertTrue(message.contains("(" + limit.setting() + "; "), message);
        assertTrue(message.contains(" exceeds the limit of " + LimitCase.LIMIT), message);
    }

    @Test
    void everyLimit_hasACase() {
        assertEquals(
                Stream.of(Setting.values())
                        .filter(setting -> setting.scope() == Setting.Scope.BODY)
                        .map(Setting::key)
                        .filter(key -> key.startsWith("max"))
                        .collect(Collectors.toSet()),
                LimitCase.all().stream().map(LimitCase::setting).collect(Collectors.toSet()));
    }
}
