package dev.sluice.samples.upload.soak;

import dev.sluice.testkit.TestForm;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The kinds of requests, with their share in percent and the expected status; the status is 0 for a client that
 * disconnects within the request.
 */
enum RequestKind {
    FIELDS(38, 200),
    FILE(18, 200),
    FILES_IN_CHUNKS(6, 200),
    INSPECTED(10, 200),
    NO_CLOSE_DELIMITER(5, 400),
    MALFORMED_HEADER(4, 400),
    NO_BOUNDARY(2, 400),
    LARGE_HEADERS(3, 413),
    TOO_LARGE_AS_ANNOUNCED(2, 413),
    TOO_LARGE_IN_CHUNKS(2, 413),
    RESET_WITHIN(6, 0),
    ENDED_WITHIN(4, 0);

    static final int MAX_BODY_BYTES = 16 << 10;

    private static final int MOST_CONTENT = 3000;
    private static final byte[] CONTENT = TestForm.noise(MOST_CONTENT, 7);
    private static final byte[] TOO_LARGE = new TestForm()
            .file("f", "large.bin", TestForm.noise(MAX_BODY_BYTES + 1000, 8))
            .body();

    private final int share;
    private final int status;

    RequestKind(int share, int status) {
        this.share = share;
        this.status = status;
    }

    int share() {
        return share;
    }

    int status() {
        return status;
    }

    static RequestKind draw(SplittableRandom random) {
        int at = random.nextInt(100);
        for (RequestKind kind : values()) {
            at -= kind.share;
            if (at < 0) {
                return kind;
            }
        }
        throw new IllegalStateException("the shares add up to less than 100");
    }

    /** {@return whether the client disconnects during the request} */
    boolean leaves() {
        return status == 0;
    }

    /**
     * {@return a request}
     *
     * @param filename the name of the stored file, which no concurrent upload may use
     */
    byte[] request(String filename, SplittableRandom random) {
        return switch (this) {
            case FIELDS -> upload(fields(random).body());
            case FILE, RESET_WITHIN, ENDED_WITHIN ->
                upload(file(filename, random).body());
            case FILES_IN_CHUNKS ->
                chunked(
                        file(filename, random)
                                .file("g", "second-" + filename, content(random))
                                .body(),
                        random);
            case INSPECTED ->
                TestForm.request("/inspect", file(filename, random).body());
            case NO_CLOSE_DELIMITER -> upload(file(filename, random).open());
            case MALFORMED_HEADER ->
                upload(fields(random)
                        .part("Content-Disposition form-data; name=\"a\"", content(random))
                        .body());
            case NO_BOUNDARY -> TestForm.request("POST", "/upload", "multipart/form-data", new byte[0]);
            case LARGE_HEADERS ->
                upload(fields(random)
                        .part(
                                "Content-Disposition: form-data; name=\"a\"\r\nX-Long: " + "x".repeat(12_000),
                                content(random))
                        .body());
            case TOO_LARGE_AS_ANNOUNCED -> TestForm.head("/upload", TOO_LARGE.length);
            case TOO_LARGE_IN_CHUNKS -> chunked(TOO_LARGE, random);
        };
    }

    private static byte[] content(SplittableRandom random) {
        return Arrays.copyOf(CONTENT, random.nextInt(MOST_CONTENT));
    }

    private static TestForm fields(SplittableRandom random) {
        return new TestForm().field("a", Long.toString(random.nextLong())).field("b", "x".repeat(random.nextInt(200)));
    }

    private static TestForm file(String filename, SplittableRandom random) {
        return fields(random).file("f", filename, content(random));
    }

    private static byte[] upload(byte[] body) {
        return TestForm.request("/upload", body);
    }

    private static byte[] chunked(byte[] body, SplittableRandom random) {
        return TestForm.chunked("/upload", body, () -> 1 + random.nextInt(4000));
    }
}
