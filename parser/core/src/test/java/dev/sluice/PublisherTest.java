package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.testng.SkipException;

/** The publisher of a body passes the Technology Compatibility Kit of Reactive Streams. */
class PublisherTest {
    /** A body of as many chunks as a test of the kit demands: each read of the stream is one, and the close-delimiter is the last. */
    private static final class Verification extends FlowPublisherVerification<ByteBuffer> {
        Verification() {
            super(new TestEnvironment(2_000, 50), 1_000);
        }

        @Override
        public Flow.Publisher<ByteBuffer> createFlowPublisher(long chunks) {
            MultipartBody.Builder body = MultipartBody.builder();
            if (chunks > 1) {
                body.field("a", "b/c", Content.stream(() -> new Reads(chunks - 1)));
            }
            return body.build().publisher();
        }

        @Override
        public Flow.Publisher<ByteBuffer> createFailedFlowPublisher() {
            return null; // a body fails when it is read, but the kit requests nothing
        }
    }

    /** A stream of one byte for each read. */
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

    @Test
    void publisher_passesTheTck() throws Exception {
        List<String> skipped = new ArrayList<>();
        int passed = 0;
        for (Method test : FlowPublisherVerification.class.getMethods()) {
            // A body has at least one chunk, so the publisher cannot be empty.
            if (test.isAnnotationPresent(org.testng.annotations.Test.class)
                    && !test.getName().contains("emptyStream")) {
                Verification verification = new Verification();
                verification.setUp();
                try {
                    test.invoke(verification);
                    passed++;
                } catch (InvocationTargetException e) {
                    if (!(e.getCause() instanceof SkipException)) {
                        throw new AssertionError(test.getName(), e.getCause());
                    }
                    skipped.add(test.getName());
                }
            }
        }
        assertTrue(passed >= 25, "passed: " + passed);
        assertEquals(
                List.of(),
                skipped.stream()
                        .filter(name -> name.startsWith("required") && !name.contains("spec109_mayRejectCalls"))
                        .toList());
    }
}
