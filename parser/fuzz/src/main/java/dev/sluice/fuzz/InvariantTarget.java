package dev.sluice.fuzz;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Invariants of every input: the number of events is linear, memory is bounded, no limit is exceeded, data equals the body,
 * retained data does not change, the only failure is a {@link MultipartException}, which later calls throw again, and
 * nothing is leaked after a close at any event.
 */
public final class InvariantTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    /** The first allocation for a header section, regardless of its size. */
    private static final int FIRST_ALLOCATION = 256;

    private static final int MOST_RETAINED = 4;

    private final Setup setup;
    private final byte[] body;
    private final ByteBuf whole;
    private final Source source;
    private final MultipartOptions limits;
    private final MultipartDecoder decoder;
    private final SplittableRandom random;
    private final List<ByteBuf> retained = new ArrayList<>();
    private final List<Integer> retainedFrom = new ArrayList<>();
    private int eventsLeft;
    private int fed;
    private int chunks;
    private int calls;
    private @Nullable Event last;
    private int parts;
    private long files;
    private long headerBytes;
    private long data;

    private InvariantTarget(Setup setup) {
        this.setup = setup;
        this.body = setup.body();
        this.whole = Unpooled.wrappedBuffer(body);
        this.source = setup.source();
        this.limits = setup.decoderLimits().build();
        this.decoder = MultipartDecoder.create(setup.boundary(), setup.options(ALLOCATOR));
        this.random = setup.cuts();
        this.eventsLeft = random.nextInt(4) == 0 ? random.nextInt(64) : Integer.MAX_VALUE;
    }

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        InvariantTarget run = new InvariantTarget(Setup.of(bytes));
        run.run();
        run.end();
    }

    /** The value is only converted to text if it is wrong, because this is called for every event. */
    private void require(boolean holds, String what, long value) {
        if (!holds) {
            require(false, what + " " + value);
        }
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(
                    what + " (state of " + fed + " bytes fed, part " + parts + ", last " + last + ")\n" + setup);
        }
    }

    private void run() {
        int shift = random.nextInt(9);
        boolean more = true;
        while (more && fed < body.length) {
            int to = Math.min(body.length, fed + (random.nextInt(512) >> shift));
            decoder.feed(source.slice(fed, to));
            fed = to;
            chunks++;
            more = drain();
        }
        if (more) {
            decoder.finish();
            drain();
        }
    }

    /** {@return whether the decoder needs more input} */
    private boolean drain() {
        try {
            while (eventsLeft-- > 0) {
                last = decoder.next();
                event(last);
                require(++calls <= 2L * (fed + chunks) + 4, "more events than two for each byte and chunk");
                if (last == Event.NEED_INPUT) {
                    require(source.held() == retained.size(), "a consumed chunk is still held");
                    require(decoder.offset() == fed, "needs input at", decoder.offset());
                    requireLittleMemory();
                    return true;
                }
                if (last == Event.END) {
                    require(decoder.next() == Event.END, "another event followed END");
                    require(decoder.offset() == body.length, "ended at", decoder.offset());
                    require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held after END");
                    return false;
                }
            }
        } catch (MultipartException e) {
            failed(e);
        }
        return false;
    }

    /** Requires that at most twice the bytes fed or twice the largest header section are held, plus a small constant. */
    private void requireLittleMemory() {
        long held = ALLOCATOR.metric().usedHeapMemory();
        long most = Math.max(FIRST_ALLOCATION, 2L * Math.min(fed, limits.maxHeaderBytesPerPart() + 512L));
        require(held <= most, "too much memory is held:", held);
    }

    private void event(Event event) {
        switch (event) {
            case PART_BEGIN -> partBegins();
            case DATA -> data(decoder.data());
            case PART_END -> require(decoder.partSize() == data, "part size", decoder.partSize());
            case NEED_INPUT, END -> {}
        }
    }

    private void partBegins() {
        parts++;
        data = 0;
        PartHead head = decoder.head();
        int headers = head.headers().size();
        int size = decoder.rawHeaders().readableBytes();
        headerBytes += size;
        files += setup.boundary().isFormData() && decoder.filename() != null ? 1 : 0; // other types do not count files
        require(decoder.partIndex() == parts - 1, "part index", decoder.partIndex());
        require(parts <= limits.maxParts(), "too many parts");
        require(files <= limits.maxFiles(), "too many files");
        require(headers <= limits.maxHeadersPerPart(), "too many headers");
        require(size <= limits.maxHeaderBytesPerPart(), "header section too large");
        require(headerBytes <= limits.maxHeaderBytes(), "header sections too large");
        require(decoder.partOffset() <= limits.maxBodyBytes(), "body too large");
        require(!setup.boundary().isFormData() || decoder.name() != null, "a part without a name");
        ByteBuf raw = decoder.rawHeaders();
        int start = (int) decoder.partOffset() - size;
        require(isBody(raw, start), "wrong raw headers");
        require(head.contentType() == null || headers > 0, "a content type without a header");
    }

    private void data(ByteBuf bytes) {
        int size = bytes.readableBytes();
        int from = (int) (decoder.partOffset() + data);
        data += size;
        require(size > 0, "empty data");
        require(data <= limits.maxPartBytes(), "part too large");
        require(decoder.partSize() == data, "part size", decoder.partSize());
        require(from + size <= Math.min(fed, limits.maxBodyBytes()), "data beyond the body");
        requireBytes(bytes, from);
        if (retained.size() < MOST_RETAINED && random.nextInt(4) == 0 && source.held() > retained.size()) {
            ByteBuf kept = bytes.retainedSlice();
            if (source.held() == retained.size() + 2) { // a slice of the chunk, not a copy of the delimiter
                retained.add(kept);
                retainedFrom.add(from);
            } else {
                kept.release();
            }
        }
    }

    private void requireBytes(ByteBuf bytes, int from) {
        require(isBody(bytes, from), "wrong data");
    }

    /** {@return whether the readable bytes equal the body from an index on} */
    private boolean isBody(ByteBuf bytes, int from) {
        return ByteBufUtil.equals(bytes, bytes.readerIndex(), whole, from, bytes.readableBytes());
    }

    private void failed(MultipartException e) {
        require(e.offset() >= 0 && e.offset() <= fed, "failed at " + e.offset());
        require(decoder.offset() == e.offset(), "the offset is " + decoder.offset() + ", failed at " + e.offset());
        require(e.partIndex() >= -1 && e.partIndex() <= parts, "failed in part " + e.partIndex());
        require(e.getMessage() != null && e.getMessage().length() < 400, "message " + e.getMessage());
        require(
                e.httpStatus() == (e.kind() == Kind.LIMIT_EXCEEDED ? 413 : e.httpStatus() == 415 ? 415 : 400),
                "status " + e.httpStatus());
        require(source.held() == retained.size(), "a chunk is held after the failure");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held after the failure");
        try {
            decoder.next();
            require(false, "the failure is not thrown again");
        } catch (MultipartException again) {
            require(again == e, "a different failure was thrown");
        }
        if (fed < body.length) {
            decoder.feed(source.slice(fed, body.length));
            require(source.held() == retained.size(), "a chunk fed after the failure is still held");
        }
    }

    /** Closes the decoder in any state. Retained data must be unchanged. */
    private void end() {
        decoder.close();
        decoder.close();
        require(source.held() == retained.size(), "a chunk is held after close");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held after close");
        for (int i = 0; i < retained.size(); i++) {
            requireBytes(retained.get(i), retainedFrom.get(i));
            retained.get(i).release();
        }
        require(source.held() == 0, "a slice is left");
        try {
            decoder.next();
            require(false, "a closed decoder did not fail");
        } catch (IllegalStateException expected) {
            require(expected.getMessage() != null, "no message");
        } catch (MultipartException e) {
            require(false, "a closed decoder fails with " + e);
        }
    }
}
