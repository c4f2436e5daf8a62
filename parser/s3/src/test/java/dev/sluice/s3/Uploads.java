package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Forms that are sent: files of pseudo-random bytes, and a client that sends each buffer when it is requested. */
public final class Uploads implements FormSource {
    public static final String CONTENT_TYPE = "multipart/form-data; boundary=b";
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "upload");
        thread.setDaemon(true);
        return thread;
    });

    private static final Map<File, String> HASHES = new ConcurrentHashMap<>();

    /** A file whose bytes are computed from its name. */
    public record File(String name, long size) {
        InputStream content() {
            return new InputStream() {
                private final byte[] block = new byte[64 << 10];
                private long left = size;
                private long blocks;
                private int at = block.length;

                {
                    new SplittableRandom(name.hashCode()).nextBytes(block);
                }

                @Override
                public int read() {
                    throw new UnsupportedOperationException();
                }

                @Override
                public int read(byte[] into, int offset, int length) {
                    if (left == 0) {
                        return -1;
                    } else if (at == block.length) {
                        for (int end = 4096; end <= block.length; end += 4096) { // no two of these ranges are equal
                            ByteBuffer.wrap(block).putLong(end - Long.BYTES, blocks++);
                        }
                        at = 0;
                    }
                    int count = (int) Math.min(left, Math.min(length, block.length - at));
                    System.arraycopy(block, at, into, offset, count);
                    at += count;
                    left -= count;
                    return count;
                }
            };
        }

        String sha256() {
            return HASHES.computeIfAbsent(this, File::hash);
        }

        private String hash() {
            try (InputStream in = content()) {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                byte[] bytes = new byte[64 << 10];
                for (int count; (count = in.read(bytes, 0, bytes.length)) >= 0; ) {
                    digest.update(bytes, 0, count);
                }
                return HexFormat.of().formatHex(digest.digest());
            } catch (IOException | NoSuchAlgorithmException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** {@return the body of a form with a field and these files} */
    public static InputStream body(List<File> files) {
        List<InputStream> parts = new ArrayList<>();
        parts.add(text("--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\ntitle"));
        for (File file : files) {
            parts.add(text("\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file.name
                    + "\"\r\nContent-Type: text/html\r\n\r\n"));
            parts.add(file.content());
        }
        parts.add(text("\r\n--b--\r\n"));
        return new SequenceInputStream(Collections.enumeration(parts));
    }

    private static InputStream text(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private final Semaphore wanted = new Semaphore(0);
    private FormIntake intake;

    private Uploads() {}

    /** A form that is being sent. */
    record Sending(FormIntake intake, CompletableFuture<MultipartForm> form) {
        /** Waits until the form has succeeded. */
        void succeed() throws Exception {
            get(form).close();
        }

        /** {@return the reason for which the form fails} */
        Throwable failure() {
            return Uploads.failure(form);
        }
    }

    /** {@return the result of {@code future}} The test fails if there is none within two minutes. */
    static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(2, TimeUnit.MINUTES);
    }

    /** {@return the reason for which {@code future} fails} */
    static Throwable failure(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> get(future)).getCause();
    }

    /** Sends {@code body} on a new thread, in buffers of 64 KiB from {@code allocator}. */
    static Sending send(Forms forms, FormOptions options, InputStream body, ByteBufAllocator allocator) {
        Uploads source = new Uploads();
        source.intake = forms.receive(source, options);
        THREADS.execute(() -> source.send(body, allocator));
        return new Sending(source.intake, source.intake.completion().toCompletableFuture());
    }

    private void send(InputStream body, ByteBufAllocator allocator) {
        try {
            for (; ; ) {
                while (intake.demand() > 0) {
                    ByteBuf chunk = allocator.buffer(64 << 10, 64 << 10);
                    if (chunk.writeBytes(body, chunk.writableBytes()) < 0) {
                        chunk.release();
                        intake.finish();
                        return;
                    }
                    intake.offer(chunk);
                }
                if (intake.isOver()) {
                    return;
                }
                wanted.acquire();
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            intake.abort(e);
        }
    }

    @Override
    public FormHead head() {
        return FormHead.of(CONTENT_TYPE);
    }

    @Override
    public void wanted() {
        wanted.release();
    }

    @Override
    public void resume(Runnable work) {
        THREADS.execute(work);
    }
}
