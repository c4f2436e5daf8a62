package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.HostileText;
import dev.sluice.testkit.ProofSize;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Generated forms, which the encoder writes and STRICT reads without a deviation. Both use chunks of random sizes. */
@Tag("sized")
class RoundTripTest {
    private static final long BODIES = ProofSize.of("sluice.roundtrip.bodies", 20_000, 1_000_000);
    private static final long SEED = Long.getLong("sluice.roundtrip.seed", 20_261_125L);
    private static final MultipartOptions STRICT =
            MultipartOptions.builder().preset(Preset.STRICT).build();

    /** A written part, with its names as STRICT reads them in a form that contains only this part. */
    private record Written(
            String name,
            @Nullable String filename,
            @Nullable String type,
            String content) {}

    @Test
    void forms_areReadAsWritten() {
        LongStream.range(SEED, SEED + BODIES).parallel().forEach(seed -> {
            try {
                check(new SplittableRandom(seed));
            } catch (IOException | RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        });
    }

    private static void check(SplittableRandom random) throws IOException {
        Boundary boundary = random.nextInt(4) == 0 ? Boundary.of("x-") : Boundary.random("multipart/form-data");
        MultipartEncoder encoder =
                MultipartEncoder.create(boundary, NameEscaping.REPLACE, PooledByteBufAllocator.DEFAULT);
        List<ByteBuf> sent = new ArrayList<>();
        List<Written> written = new ArrayList<>();
        try {
            for (int part = random.nextInt(6); part > 0; part--) {
                written.add(part(encoder, random, sent));
            }
            sent.add(encoder.finish());
        } catch (IOException e) {
            sent.forEach(ByteBuf::release); // the short boundary occurred in the content
            return;
        }
        ByteBuf body = Unpooled.wrappedBuffer(sent.toArray(ByteBuf[]::new));
        List<ByteBuf> chunks = new ArrayList<>();
        while (body.isReadable()) {
            chunks.add(body.readRetainedSlice(
                    1 + random.nextInt(Math.min(body.readableBytes(), 1 + random.nextInt(200)))));
        }
        body.release();
        Boundary read = Boundary.formData(encoder.contentType(), Preset.STRICT);
        Decoding.Result result = Decoding.decode(read, STRICT, chunks);
        assertEquals(List.of(), result.reasons());
        assertEquals(List.of(), result.deviations());
        assertEquals(
                written,
                result.parts().stream()
                        .map(part -> new Written(part.name(), part.filename(), part.contentType(), part.body()))
                        .toList());
    }

    private static Written part(MultipartEncoder encoder, SplittableRandom random, List<ByteBuf> sent)
            throws IOException {
        String name = HostileText.name(random);
        if (random.nextInt(10) == 0) {
            sent.add(encoder.emptyFileInput(name));
            Decoding.Part read = NameEscapingTest.written(name, "f", NameEscaping.REPLACE);
            return new Written(read.name(), "", "application/octet-stream", "");
        }
        String filename = random.nextBoolean() ? HostileText.name(random) : null;
        String type = HostileText.contentType(random, filename != null);
        ByteBuf begin = encoder.beginPart(name, filename, type);
        sent.add(begin);
        byte[] bytes = HostileText.content(random);
        for (int from = 0, to; from < bytes.length; from = to) {
            to = from + 1 + random.nextInt(bytes.length - from);
            sent.add(encoder.write(Unpooled.wrappedBuffer(bytes, from, to - from)));
        }
        Decoding.Part read = NameEscapingTest.written(name, filename, NameEscaping.REPLACE);
        boolean hidesFilename = filename != null && name.contains("filenamefilename");
        if (!name.isEmpty() && !hidesFilename && name.chars().allMatch(c -> c < 0x7F && Character.isLetterOrDigit(c))) {
            assertEquals(name, read.name());
        }
        return new Written(read.name(), read.filename(), type, new String(bytes, StandardCharsets.ISO_8859_1));
    }
}
