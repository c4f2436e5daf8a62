package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.Setting;
import dev.sluice.testkit.ReferenceLimits;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.SplittableRandom;

/**
 * A body and how to read it, made of the bytes of the fuzzer: five that choose, then the body.
 *
 * <pre>
 * byte 0   bits 0-1 preset, bit 2 the body is made of {@link Tokens}, bit 3 direct memory, bits 4-6 the boundary
 * byte 1   which limits, none below 8 of 16
 * byte 2   their values
 * byte 3-4 the cuts
 * </pre>
 */
final class Setup {
    static final int HEAD = 5;
    static final int TOKENS = 4;
    static final int DIRECT = 8;

    /** Choice 0 is what the seeds are written for. */
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
    private static final Boundary[] BOUNDARIES = new Boundary[CONTENT_TYPES.length];
    private static final Tokens[] OF_BOUNDARY = new Tokens[CONTENT_TYPES.length];

    static {
        for (int i = 0; i < CONTENT_TYPES.length; i++) {
            try {
                BOUNDARIES[i] = Boundary.from(CONTENT_TYPES[i], Preset.STRICT);
            } catch (MultipartException e) {
                throw new ExceptionInInitializerError(e);
            }
            OF_BOUNDARY[i] = Tokens.of(BOUNDARIES[i].value());
        }
    }

    private final int type;
    private final Preset preset;
    private final ReferenceLimits limits;
    private final boolean direct;
    private final int cuts;
    private final byte[] body;

    private Setup(int type, Preset preset, ReferenceLimits limits, boolean direct, int cuts, byte[] body) {
        this.type = type;
        this.preset = preset;
        this.limits = limits;
        this.direct = direct;
        this.cuts = cuts;
        this.body = body;
    }

    static Setup of(byte[] bytes) {
        return of(new Input(bytes));
    }

    static Setup of(Input in) {
        int flags = in.next();
        ReferenceLimits limits = limits(in.next() & 15, in.next());
        int cuts = in.next() << 8 | in.next();
        int type = flags >> 4 & 7;
        byte[] rest = in.rest();
        byte[] body = (flags & TOKENS) != 0 ? OF_BOUNDARY[type].expand(rest) : rest;
        return new Setup(type, PRESETS[(flags & 3) % 3], limits, (flags & DIRECT) != 0, cuts, body);
    }

    static Tokens tokens(int type) {
        return OF_BOUNDARY[type];
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

    Preset preset() {
        return preset;
    }

    Boundary boundary() {
        return BOUNDARIES[type];
    }

    String contentType() {
        return CONTENT_TYPES[type];
    }

    ReferenceLimits limits() {
        return limits;
    }

    byte[] body() {
        return body;
    }

    SplittableRandom cuts() {
        return new SplittableRandom(cuts);
    }

    Source source() {
        return Source.of(body, direct);
    }

    MultipartOptions options(ByteBufAllocator allocator) {
        return decoderLimits().preset(preset).allocator(allocator).build();
    }

    MultipartOptions.Builder decoderLimits() {
        return limits == ReferenceLimits.DEFAULTS ? MultipartOptions.builder() : limited();
    }

    private MultipartOptions.Builder limited() {
        return MultipartOptions.builder()
                .set(Setting.MAX_BODY_BYTES, text(limits.maxBodyBytes()))
                .set(Setting.MAX_PART_BYTES, text(limits.maxPartBytes()))
                .set(Setting.MAX_PARTS, text(limits.maxParts()))
                .set(Setting.MAX_FILES, text(limits.maxFiles()))
                .maxHeadersPerPart(limits.maxHeadersPerPart())
                .maxHeaderBytesPerPart(limits.maxHeaderBytesPerPart())
                .set(Setting.MAX_HEADER_BYTES, text(limits.maxHeaderBytes()))
                .maxPreambleBytes(limits.maxPreambleBytes())
                .maxEpilogueBytes(limits.maxEpilogueBytes());
    }

    private static String text(long limit) {
        return limit == Long.MAX_VALUE ? "unlimited" : String.valueOf(limit);
    }

    /** {@return an allocator that counts exactly and whose buffers cost little} */
    static UnpooledByteBufAllocator countingAllocator() {
        return new UnpooledByteBufAllocator(false, true);
    }

    @Override
    public String toString() {
        return preset + ", " + contentType() + ", " + limits + ", " + (direct ? "direct" : "heap") + ", cuts " + cuts
                + ", body \"" + Bytes.show(body) + "\"";
    }
}
