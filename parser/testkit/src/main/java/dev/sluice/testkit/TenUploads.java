package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The ten uploads that a new user is likely to try on an example. For each upload, {@link #send} returns the status and
 * the number of files that the example has stored, and requires that no temporary file is left.
 */
public final class TenUploads {
    private static final String BOUNDARY = "----ten-uploads";
    private static final String FORM = "multipart/form-data; boundary=" + BOUNDARY;
    private static final byte[] PIECE = new byte[64 << 10];
    private static final byte[] END = ("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII);

    private final int port;
    private final String path;
    private final String field;
    private final String type;
    private final long limit;
    private int lines;

    /**
     * @param field the name of the file input
     * @param type the type of the files that the example accepts
     * @param limit the limit for a body or for a file, in bytes
     */
    public TenUploads(int port, String path, String field, String type, long limit) {
        this.port = port;
        this.path = path;
        this.field = field;
        this.type = type;
        this.limit = limit;
    }

    /**
     * {@return the result of an example that stores every file}
     *
     * @param accepted the status of an accepted form
     */
    public static String all(int accepted) {
        return """
                1 ordinary file: %1$d, 1 stored
                2 input left empty: %1$d, 0 stored
                3 two files of one name: %1$d, 2 stored
                4 over the limit: 413, 0 stored
                5 over the limit, chunked: 413, 0 stored
                6 wrong file type: %1$d, 1 stored
                7 truncated body: 400, 0 stored
                8 wrong boundary: 400, 0 stored
                9 JSON: 415, 0 stored
                10 aborted connection: no response, 0 stored
                """.formatted(accepted);
    }

    /**
     * {@return a line for each upload} Sends the uploads one after the other.
     *
     * @param stored counts the files that the example has stored
     * @param left counts the temporary files of uploads in progress
     */
    public String send(Callable<Long> stored, Callable<Long> left) throws Exception {
        StringBuilder results = new StringBuilder();
        byte[] one = file("a", type, "content");
        Upload[] uploads = {
            new Upload("ordinary file", FORM, one, END),
            new Upload("input left empty", FORM, file("", "application/octet-stream", ""), END),
            new Upload("two files of one name", FORM, one, "\r\n".getBytes(StandardCharsets.US_ASCII), one, END),
            new Upload("over the limit", FORM, one, PIECE, END),
            new Upload("over the limit, chunked", FORM, one, PIECE, END),
            new Upload("wrong file type", FORM, file("a.txt", "text/plain", "a text"), END),
            new Upload("truncated body", FORM, one),
            new Upload("wrong boundary", FORM + "-another", one, END),
            new Upload("JSON", "application/json", "{}".getBytes(StandardCharsets.US_ASCII)),
        };
        for (Upload upload : uploads) {
            long before = stored.call();
            String status = String.valueOf(upload.send());
            results.append(line(upload.name, status, stored.call() - before));
            Eventually.passes(() -> assertEquals(0L, left.call(), () -> "temporary files are left after: " + results));
        }
        long before = stored.call();
        try (RawHttp connection = new RawHttp(port)) {
            connection.send(head(FORM, "Content-Length: " + limit)).send(one);
            for (long at = 0; at < Math.min(limit / 2, 1 << 20); at += PIECE.length) {
                connection.send(PIECE);
            }
            Eventually.passes(() -> assertTrue(left.call() > 0, "the upload did not begin"));
            connection.reset();
        }
        Eventually.passes(() -> assertEquals(0L, left.call(), "temporary files are left after the aborted connection"));
        return results.append(line("aborted connection", "no response", stored.call() - before))
                .toString();
    }

    private String line(String name, String status, long stored) {
        return ++lines + " " + name + ": " + status + ", " + stored + " stored\n";
    }

    private byte[] file(String filename, String contentType, String content) {
        String part =
                "--%s\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nSea\r\n--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n%s";
        return part.formatted(BOUNDARY, BOUNDARY, field, filename, contentType, content)
                .getBytes(StandardCharsets.UTF_8);
    }

    private String head(String contentType, String length) {
        return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: " + contentType
                + "\r\n" + length + "\r\n\r\n";
    }

    /**
     * A request. Its response is read while it is sent, because the server may respond early. {@link #PIECE} stands for
     * as many bytes as the limit.
     */
    private final class Upload {
        private final String name;
        private final String contentType;
        private final byte[][] pieces;

        Upload(String name, String contentType, byte[]... pieces) {
            this.name = name;
            this.contentType = contentType;
            this.pieces = pieces;
        }

        int send() throws IOException {
            boolean chunked = name.endsWith("chunked");
            long length = 0;
            for (byte[] piece : pieces) {
                length += piece == PIECE ? limit : piece.length;
            }
            try (RawHttp connection = new RawHttp(port)) {
                CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> {
                    try {
                        return connection.response().status();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                try {
                    connection.send(
                            head(contentType, chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + length));
                    for (byte[] piece : pieces) {
                        long rest = piece == PIECE ? limit : piece.length;
                        for (; rest > 0 && !status.isDone(); rest -= PIECE.length) {
                            send(connection, piece, (int) Math.min(rest, piece.length), chunked);
                        }
                    }
                    connection.send(chunked && !status.isDone() ? "0\r\n\r\n" : "");
                } catch (IOException e) {
                    return status.join(); // the server has responded and closed the connection
                }
                return status.join();
            } catch (CompletionException e) {
                throw new IOException(name, e);
            }
        }

        private void send(RawHttp connection, byte[] bytes, int count, boolean chunked) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            if (chunked) {
                out.writeBytes((Integer.toHexString(count) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            }
            out.write(bytes, 0, count);
            if (chunked) {
                out.writeBytes(new byte[] {'\r', '\n'});
            }
            connection.send(out.toByteArray());
        }
    }
}
