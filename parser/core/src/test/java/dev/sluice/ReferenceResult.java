package dev.sluice;

import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceLimits;
import dev.sluice.testkit.Soup;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The result of the reference parser as a {@link Decoding.Result}. */
public final class ReferenceResult {
    private static final int REPORTED = 100;

    /** Its heap buffers do not begin at index 0 of their arrays, like most buffers of a pool. */
    private static final ByteBufAllocator ALLOCATOR = new AbstractByteBufAllocator() {
        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return Unpooled.buffer(initialCapacity + 7).slice(7, initialCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    };

    private ReferenceResult() {}

    /** Fails if the decoder and the reference parser differ, and otherwise returns their common result. */
    public static Decoding.Result assertSame(
            Outcome outcome,
            String contentType,
            byte[] body,
            ReferenceLimits limits,
            Preset preset,
            List<ByteBuf> chunks,
            Object what) {
        MultipartOptions options =
                DecoderProbe.limits(limits).preset(preset).allocator(ALLOCATOR).build();
        Decoding.Result actual;
        try {
            actual = Decoding.decode(Boundary.anyMultipart(contentType, preset), options, chunks);
        } catch (MultipartException e) {
            chunks.forEach(ByteBuf::release);
            actual = new Decoding.Result(
                    List.of(), List.of(), 0, 0, new Decoding.Failure(e.reason(), e.offset(), e.partIndex()));
        }
        Decoding.Result expected = of(outcome, actual.size());
        if (!expected.equals(actual)) {
            throw new AssertionError(what + " " + preset + "\ncontent type " + contentType + "\nbody "
                    + Soup.escape(body) + "\nexpected " + Soup.escape(Decoding.bytes(expected.toString()))
                    + "\nbut was  " + Soup.escape(Decoding.bytes(actual.toString())));
        }
        return actual;
    }

    static Decoding.Result of(Outcome outcome, long decodedSize) {
        List<Decoding.Part> parts = new ArrayList<>();
        outcome.parts().forEach(part -> parts.add(part(part, true)));
        if (outcome.partial() != null) {
            parts.add(part(outcome.partial(), false));
        }
        List<ReportedDeviation> deviations = outcome.deviations().stream()
                .limit(REPORTED)
                .map(deviation -> new ReportedDeviation(
                        Deviation.valueOf(deviation.kind()), deviation.part(), deviation.offset()))
                .toList();
        Outcome.Error error = outcome.error();
        Decoding.Failure failure = error == null
                ? null
                : new Decoding.Failure(MultipartException.Reason.valueOf(error.reason()), error.offset(), error.part());
        return new Decoding.Result(
                parts,
                deviations,
                outcome.deviations().size(),
                error == null ? outcome.bodySize() : decodedSize,
                failure);
    }

    private static Decoding.Part part(Outcome.Part part, boolean complete) {
        return new Decoding.Part(
                part.index(),
                part.headers().stream()
                        .map(header -> new PartHead.Header(header.name(), header.value()))
                        .toList(),
                part.name(),
                part.filename(),
                part.contentType(),
                part.bodyOffset(),
                new String(part.body(), StandardCharsets.ISO_8859_1),
                complete);
    }
}
