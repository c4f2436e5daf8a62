package dev.sluice;

import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The names, defaults and ranges of all settings. They are used for values given as text, such as init parameters, properties and command
 * lines. Each setting is documented by the builder method of the same name. Default times are in nanoseconds. The default of a flag is 0 or
 * 1, or -1 if {@link Preset#decodes()} decides.
 */
public enum Setting {
    PRESET(Scope.BODY, Kind.PRESET, 0),
    HEADER_CHARSET(Scope.BODY, Kind.CHARSET, 0),
    DECODE_PERCENT_ESCAPES(Scope.BODY, Kind.FLAG, 0),
    DECODE_TRANSFER_ENCODINGS(Scope.BODY, Kind.FLAG, -1),
    JOIN_CONTINUATIONS(Scope.BODY, Kind.FLAG, -1),
    DECODE_ENCODED_WORDS(Scope.BODY, Kind.FLAG, -1),
    PREFER_EXTENDED_FILENAME(Scope.BODY, Kind.FLAG, -1),
    MAX_BODY_BYTES(Scope.BODY, Kind.BYTES, Long.MAX_VALUE, 64 << 20, "unlimitedBodyBytes()"),
    MAX_PART_BYTES(Scope.BODY, Kind.BYTES, Long.MAX_VALUE, Long.MAX_VALUE, "unlimitedPartBytes()"),
    MAX_FIELD_BYTES(Scope.BODY, Kind.BYTES, 256 << 10, 256 << 10, "unlimitedFieldBytes()"),
    MAX_PARTS(Scope.BODY, Kind.COUNT, 1000, 1000, "unlimitedParts()"),
    MAX_FILES(Scope.BODY, Kind.COUNT, Long.MAX_VALUE, 100, "unlimitedFiles()"),
    MAX_HEADERS_PER_PART(Scope.BODY, Kind.COUNT, 32),
    MAX_HEADER_BYTES_PER_PART(Scope.BODY, Kind.BYTES, 8 << 10),
    MAX_HEADER_BYTES(Scope.BODY, Kind.BYTES, 256 << 10, 256 << 10, "unlimitedHeaderBytes()"),
    MAX_PREAMBLE_BYTES(Scope.BODY, Kind.BYTES, 4 << 10),
    MAX_EPILOGUE_BYTES(Scope.BODY, Kind.BYTES, 4 << 10),
    EXPAND_NESTED(Scope.FORM, Kind.FLAG, -1),
    SPILL_THRESHOLD(Scope.FORM, Kind.BYTES, 64 << 10),
    MAX_IN_MEMORY_BYTES(Scope.FORM, Kind.BYTES, 1 << 20),
    MAX_FILES_ON_DISK(Scope.FORM, Kind.COUNT, 128, 128, "unlimitedFilesOnDisk()"),
    MAX_DRAIN_BYTES(Scope.FORM, Kind.BYTES, 1 << 20),
    MIN_BYTES_PER_SECOND(Scope.FORM, Kind.BYTES, 240, 240, "noMinimumRate()"),
    MIN_RATE_GRACE(Scope.FORM, Kind.TIME, 5_000_000_000L),
    MAX_SINK_WAIT(Scope.FORM, Kind.TIME, 60_000_000_000L),
    DIRECTORY(Scope.SPOOL, Kind.PATH, 0),
    /** The default is 1 GiB, or 16 times the largest {@code maxBodyBytes} of the forms in the directory if that is more. */
    MAX_SPOOL_BYTES(Scope.SPOOL, Kind.BYTES, 1 << 30, 1 << 30, "unlimitedSpoolBytes()"),
    MAX_SPOOL_FILES(Scope.SPOOL, Kind.COUNT, 10_000, 10_000, "unlimitedSpoolFiles()"),
    KEEP_FREE_BYTES(Scope.SPOOL, Kind.BYTES, 256 << 20),
    /** The default is a quarter of the heap. */
    MEMORY_BUDGET_BYTES(Scope.MEMORY, Kind.BYTES, quarterOfHeap(), quarterOfHeap(), "MemoryBudget.unlimited()"),
    LOCATION(Scope.FILTER, Kind.PATH, 0),
    PARSE(Scope.FILTER, Kind.PARSE, 0),
    REFUSE_OTHER_MULTIPART(Scope.FILTER, Kind.FLAG, 1),
    SERVE_DELETE(Scope.FILTER, Kind.FLAG, 0);

    /**
     * The object that a setting configures. BODY is {@link MultipartOptions} and every object that contains them, FORM is {@link
     * dev.sluice.form.FormOptions}, SPOOL is {@link dev.sluice.form.SpoolDirectory}, MEMORY is {@link dev.sluice.form.MemoryBudget}, and
     * FILTER is the servlet filter.
     */
    public enum Scope {
        BODY,
        FORM,
        SPOOL,
        MEMORY,
        FILTER
    }

    /**
     * The type of a setting, which determines its format as text. {@link Setting#parse} returns a {@link Long} for BYTES and COUNT, a
     * {@link Duration} for TIME, a {@link Boolean} for FLAG, a {@link Preset}, a {@link Charset}, and a {@link String} for PATH and PARSE.
     */
    public enum Kind {
        BYTES("a number of bytes, with or without KiB, MiB, GiB or TiB"),
        COUNT("a number"),
        TIME("a time above 0 such as 5s or 500ms"),
        FLAG("true or false"),
        PRESET("standard, strict or compatible"),
        CHARSET("the name of a charset that is a superset of US-ASCII"),
        PATH("a path"),
        PARSE("lazy or eager");

        private final String expected;

        Kind(String expected) {
            this.expected = expected;
        }
    }

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE - 1);

    private final String key;
    private final Scope scope;
    private final Kind kind;
    private final long decoderDefault;
    private final long formDefault;
    private final @Nullable String offCall;

    Setting(Scope scope, Kind kind, long byDefault) {
        this(scope, kind, byDefault, byDefault, null);
    }

    Setting(Scope scope, Kind kind, long decoderDefault, long formDefault, @Nullable String offCall) {
        this.key = camelCase(name());
        this.scope = scope;
        this.kind = kind;
        this.decoderDefault = decoderDefault;
        this.formDefault = formDefault;
        this.offCall = offCall;
    }

    private static long quarterOfHeap() {
        return Runtime.getRuntime().maxMemory() / 4;
    }

    private static String camelCase(String constant) {
        StringBuilder key = new StringBuilder(constant.toLowerCase(Locale.ROOT));
        for (int at; (at = key.indexOf("_")) >= 0; ) {
            key.deleteCharAt(at).setCharAt(at, constant.charAt(constant.length() - key.length() + at));
        }
        return key.toString();
    }

    /**
     * {@return the setting with this {@link #key()}}
     *
     * @throws IllegalArgumentException if there is none; the message lists all keys
     */
    public static Setting of(String key) {
        return Stream.of(values())
                .filter(setting -> setting.key.equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown setting " + key + "; known are "
                        + Stream.of(values()).map(Setting::key).collect(Collectors.joining(", "))));
    }

    /** {@return the name of the setting, which is also the name of the builder method, such as {@code maxBodyBytes}} */
    public String key() {
        return key;
    }

    /** {@return the object that the setting configures} */
    public Scope scope() {
        return scope;
    }

    /** {@return the type of the setting} */
    public Kind kind() {
        return kind;
    }

    /** {@return the default for decoders and readers: {@link Long#MAX_VALUE} if unlimited; 0 for a charset, preset, path or PARSE} */
    public long decoderDefault() {
        return decoderDefault;
    }

    /** {@return the default for forms: {@link Long#MAX_VALUE} if unlimited; 0 for a charset, preset, path or PARSE} */
    public long formDefault() {
        return formDefault;
    }

    /** {@return the smallest number that the setting accepts as a limit} */
    public long minimum() {
        return this == MIN_BYTES_PER_SECOND ? 1 : 0;
    }

    /** {@return the largest number that the setting accepts as a limit; to remove a limit, use {@link #offCall()}} */
    public long maximum() {
        boolean counted = scope == Scope.BODY && offCall == null; // the decoder counts in an int
        return counted ? Integer.MAX_VALUE : Long.MAX_VALUE - 1;
    }

    /** {@return the builder method that turns off the setting; null if that is not possible} */
    public @Nullable String offCall() {
        return offCall;
    }

    long off() {
        return this == MIN_BYTES_PER_SECOND ? 0 : Long.MAX_VALUE;
    }

    private String offWord() {
        return this == MIN_BYTES_PER_SECOND ? "none" : "unlimited";
    }

    /**
     * {@return {@code value}} If the setting can be turned off, the number for that is accepted as well: 0 for a rate, and {@link
     * Long#MAX_VALUE} for any other setting.
     *
     * @throws IllegalArgumentException if it is not in the range from {@link #minimum()} to {@link #maximum()}
     */
    public long check(long value) {
        return offCall != null && value == off() ? value : checkLimit(value);
    }

    private long checkLimit(long value) {
        if (value < minimum() || value > maximum()) {
            throw new IllegalArgumentException(key + " is " + value + ", must be " + minimum()
                    + (value < minimum() ? " or more" : " to " + maximum())
                    + (offCall == null ? "" : "; to turn it off call " + offCall));
        }
        return value;
    }

    /**
     * {@return {@code time}, at most 292 years}
     *
     * @throws IllegalArgumentException if it is not more than 0
     */
    public Duration check(Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(key + " is " + time + ", must be more than 0");
        }
        return time.compareTo(LONGEST) > 0 ? LONGEST : time;
    }

    /**
     * {@return the value of {@code text}, of the type of {@link #kind()}} The text {@code unlimited} gives {@link Long#MAX_VALUE}. The text
     * {@code none}, for a rate, gives 0.
     *
     * @throws IllegalArgumentException if the text is malformed; the message contains the key, the text and the expected format
     */
    public Object parse(String text) {
        String value = text.strip();
        try {
            return switch (kind) {
                case BYTES, COUNT ->
                    offCall != null && value.equalsIgnoreCase(offWord()) ? off() : (Long) checkLimit(size(value));
                case TIME -> check(time(value));
                case FLAG -> {
                    boolean on = value.equalsIgnoreCase("true");
                    require(on || value.equalsIgnoreCase("false"));
                    yield on;
                }
                case PRESET -> Preset.named(value);
                case CHARSET -> {
                    Charset charset = Charset.forName(value);
                    require(Text.keepsAscii(charset));
                    yield charset;
                }
                case PATH -> {
                    require(value.indexOf('\0') < 0);
                    yield value;
                }
                case PARSE -> {
                    require(value.equalsIgnoreCase("lazy") || value.equalsIgnoreCase("eager"));
                    yield value.toLowerCase(Locale.ROOT);
                }
            };
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw unusable(text, e);
        }
    }

    IllegalArgumentException unusable(String text, @Nullable Exception cause) {
        String range = kind == Kind.BYTES || kind == Kind.COUNT ? ", at least " + minimum() : "";
        String off = offCall == null ? "" : ", or " + offWord();
        return new IllegalArgumentException(key + " is '" + text + "', must be " + kind.expected + range + off, cause);
    }

    private static void require(boolean known) {
        if (!known) {
            throw new IllegalArgumentException("unexpected text");
        }
    }

    /**
     * {@return the number of bytes of a size such as {@code 512}, {@code 64KiB} or {@code 16g}; units are powers of 1024}
     *
     * @throws IllegalArgumentException if {@code text} is not a size, or too large
     */
    public static long size(String text) {
        String number = text.strip();
        boolean binary = number.toLowerCase(Locale.ROOT).endsWith("ib");
        number = binary ? number.substring(0, number.length() - 2) : number;
        int power =
                number.isEmpty() ? 0 : 1 + "KMGT".indexOf(Character.toUpperCase(number.charAt(number.length() - 1)));
        number = power > 0 ? number.substring(0, number.length() - 1).strip() : number;
        try {
            require(!binary || power > 0);
            return Math.multiplyExact(digits(number), 1L << 10 * power);
        } catch (ArithmeticException | IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is not a size such as 512, 64KiB or 16GiB", e);
        }
    }

    private static long digits(String text) {
        require(!text.isEmpty() && Character.isDigit(text.charAt(0)));
        return Long.parseLong(text);
    }

    private static Duration time(String text) {
        boolean millis = text.endsWith("ms");
        long number = digits(text.substring(0, text.length() - (millis ? 2 : text.endsWith("s") ? 1 : 0)));
        return millis ? Duration.ofMillis(number) : Duration.ofSeconds(number);
    }

    /** {@return the {@link #key()}} */
    @Override
    public String toString() {
        return key;
    }
}
