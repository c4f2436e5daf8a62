package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.testng.SkipException;

/** The publishers of bodies and of outgoing forms pass the Technology Compatibility Kit of Reactive Streams. */
class PublisherTest {
    /** The kit waits only 100 ms for the garbage collector, which a busy machine exceeds. A leak fails every attempt. */
    private static final int LEAK_ATTEMPTS = 5;

    /** A test of publishers with the number of chunks that the kit chooses. The last chunk is the close-delimiter. */
    private static final class Verification extends FlowPublisherVerification<ByteBuffer> {
        private final LongFunction<Flow.Publisher<ByteBuffer>> publishers;

        Verification(LongFunction<Flow.Publisher<ByteBuffer>> publishers) {
            // The times are in milliseconds. Before the kit checks for leaks, it waits for the last of them.
            super(new TestEnvironment(2_000, 50), 300);
            this.publishers = publishers;
        }

        @Override
        public Flow.Publisher<ByteBuffer> createFlowPublisher(long chunks) {
            return publishers.apply(chunks);
        }

        @Override
        public Flow.Publisher<ByteBuffer> createFailedFlowPublisher() {
            return null; // a body fails only when it is read, and this test of the kit requests nothing
        }
    }

    /** A stream that returns one byte for each read. */
    private static final class Reads extends InputStream {
        private long left;

        Reads(long left) {
            this.left = left;
        }

        @Override
        public int read() {
            return left-- > 0 ? 'a' : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            target[offset] = 'a';
            return left-- > 0 ? 1 : -1;
        }
    }

    /** {@return a body with a chunk for each read of a stream} */
    private static Flow.Publisher<ByteBuffer> body(long chunks) {
        MultipartBody.Builder body = MultipartBody.builder();
        if (chunks > 1) {
            body.field("a", "b/c", Content.stream(() -> new Reads(chunks - 1)));
        }
        return body.build().publisher();
    }

    /**
     * A form of one part that is written as fast as the subscriber requests chunks. The head of the part is one chunk, and each write of
     * content is another.
     */
    private static final class Filler {
        private final OutgoingForm form = OutgoingForm.create(NameEscaping.REJECT, UnpooledByteBufAllocator.DEFAULT);
        private final PartSink part = form.part("a", null, null);
        private final long chunks;
        private long written = -1;

        Filler(long chunks) {
            this.chunks = chunks;
        }

        Flow.Publisher<ByteBuffer> publisher() {
            step();
            return form.publisher();
        }

        private void step() {
            try {
                Readiness next = next();
                next.whenReady(() -> {
                    if (next.failure() == null && written < chunks) {
                        step();
                    }
                });
            } catch (IOException e) {
                form.abort(e);
            }
        }

        private Readiness next() throws IOException {
            written++;
            return written == 0
                    ? form.admit()
                    : written == chunks
                            ? form.commit()
                            : written == 1 ? part.complete() : part.write(Unpooled.wrappedBuffer(new byte[] {'a'}));
        }
    }

    @Test
    void publisherOfABody_passesTheTck() throws Exception {
        assertPassesTheTck(PublisherTest::body, 25);
    }

    @Test
    void publisherOfAnOutgoingForm_passesTheTck() throws Exception {
        // The other tests need two subscribers, but a form has only one.
        assertPassesTheTck(chunks -> new Filler(chunks).publisher(), 22);
    }

    /** {@return whether the test passed; false if the kit skips it} */
    private static boolean run(Method test, LongFunction<Flow.Publisher<ByteBuffer>> publishers) throws Exception {
        for (int attempt = 1; ; attempt++) {
            Verification verification = new Verification(publishers);
            verification.setUp();
            try {
                test.invoke(verification);
                return true;
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof SkipException) {
                    return false;
                } else if (!test.getName().contains("spec313") || attempt == LEAK_ATTEMPTS) {
                    throw new AssertionError(test.getName(), e.getCause());
                }
            }
        }
    }

    private static void assertPassesTheTck(LongFunction<Flow.Publisher<ByteBuffer>> publishers, int least)
            throws Exception {
        List<String> skipped = new ArrayList<>();
        int passed = 0;
        for (Method test : FlowPublisherVerification.class.getMethods()) {
            // A body has at least one chunk, so the publisher cannot be empty.
            if (test.isAnnotationPresent(org.testng.annotations.Test.class)
                    && !test.getName().contains("emptyStream")) {
                if (run(test, publishers)) {
                    passed++;
                } else {
                    skipped.add(test.getName());
                }
            }
        }
        assertTrue(passed >= least, "passed: " + passed);
        assertEquals(
                List.of(),
                skipped.stream()
                        .filter(name -> name.startsWith("required") && !name.contains("spec109_mayRejectCalls"))
                        .toList());
    }
}
