package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.DecoderProbe;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.testkit.ReferenceLimits;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A body and the options for decoding it, made from the fuzzer's bytes: five choice bytes, then the body.
 * <pre>
 * byte 0   bits 0-1 preset, bit 2 the body consists of {@link Tokens}, bit 3 direct memory, bits 4-6 the boundary
 * byte 1   bits 0-3 the kind of limits, none if below 8
 * byte 2   the values of the limits
 * byte 3-4 the seed of the cuts into chunks
 * </pre>
 *
 * @param type the index of the {@link #CONTENT_TYPES}
 * @param direct whether the body is in direct memory
 * @param seed the seed of the cuts
 */
record Setup(int type, Preset preset, ReferenceLimits limits, boolean direct, int seed, byte[] body) {
    static final int HEAD = 5;
    static final int TOKENS = 4;
    static final int DIRECT = 8;

    /** The possible values of Content-Type. Seeds without {@link Tokens} use the first one. */
    static final String[] CONTENT_TYPES = {
        "multipart/form-data; boundary=x",
        "multipart/mixed; boundary=x",
        "multipart/form-data; boundary=--",
        "multipart/form-data; boundary=xyx",
        "multipart/form-data; boundary=----------------------------------------------------------------------",
        "multipart/form-data; boundary=\"a'b (c)\"",
        "multipart/form-data; boundary=-",
        "multipart/form-data; boundary=----WebKitFormBoundaryA1",
    };

    private static final Preset[] PRESETS = {Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE};
    private static final List<Boundary> BOUNDARIES =
            Stream.of(CONTENT_TYPES).map(Setup::parsed).toList();
    private static final List<Tokens> OF_BOUNDARY =
            BOUNDARIES.stream().map(Boundary::value).map(Tokens::of).toList();

    private static Boundary parsed(String contentType) {
        try {
            return Boundary.anyMultipart(contentType, Preset.STRICT);
        } catch (MultipartException e) {
            throw new IllegalStateException(e);
        }
    }

    static Setup of(byte[] bytes) {
        return of(new Input(bytes));
    }

    static Setup of(Input in) {
        int flags = in.next();
        ReferenceLimits limits = limits(in.next() & 15, in.next());
        int seed = in.next() << 8 | in.next();
        int type = flags >> 4 & 7;
        byte[] rest = in.rest();
        byte[] body = (flags & TOKENS) != 0 ? OF_BOUNDARY.get(type).expand(rest) : rest;
        return new Setup(type, PRESETS[(flags & 3) % 3], limits, (flags & DIRECT) != 0, seed, body);
    }

    static Tokens tokens(int type) {
        return OF_BOUNDARY.get(type);
    }

    private static ReferenceLimits limits(int kind, int value) {
        ReferenceLimits none = ReferenceLimits.DEFAULTS;
        return switch (kind) {
            case 8 -> none.with("maxBodyBytes", 3L * value);
            case 9 -> none.with("maxPartBytes", value % 48);
            case 10 -> none.with("maxParts", value % 4).with("maxFiles", value / 4 % 4);
            case 11 -> none.with("maxPreambleBytes", value % 16).with("maxEpilogueBytes", value / 16);
            case 12 -> none.with("maxHeadersPerPart", value % 4);
            case 13 -> none.with("maxHeaderBytesPerPart", value);
            case 14 -> none.with("maxHeaderBytes", 2L * value);
            case 15 ->
                none.with("maxBodyBytes", 100 + value)
                        .with("maxPartBytes", value % 16)
                        .with("maxParts", value / 16)
                        .with("maxFiles", value % 3)
                        .with("maxHeadersPerPart", 1 + value % 3)
                        .with("maxHeaderBytesPerPart", 60 + value / 2)
                        .with("maxHeaderBytes", 100 + value)
                        .with("maxPreambleBytes", value % 5)
                        .with("maxEpilogueBytes", value % 7);
            default -> none;
        };
    }

    Boundary boundary() {
        return BOUNDARIES.get(type);
    }

    String contentType() {
        return CONTENT_TYPES[type];
    }

    SplittableRandom cuts() {
        return new SplittableRandom(seed);
    }

    Source source() {
        return Source.of(body, direct);
    }

    MultipartOptions options(ByteBufAllocator allocator) {
        return decoderLimits().preset(preset).allocator(allocator).build();
    }

    MultipartOptions.Builder decoderLimits() {
        return limits == ReferenceLimits.DEFAULTS ? MultipartOptions.builder() : DecoderProbe.limits(limits);
    }

    /** {@return an allocator with exact counts and cheap buffers} */
    static UnpooledByteBufAllocator countingAllocator() {
        return new UnpooledByteBufAllocator(false, true);
    }

    @Override
    public String toString() {
        return preset + ", " + contentType() + ", " + limits + ", " + (direct ? "direct" : "heap") + ", cuts " + seed
                + ", body \"" + Soup.escape(body) + "\"";
    }
}
