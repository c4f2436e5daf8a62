package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.StuckChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The sinks created by the factories of {@link PartSink}. */
class SinksTest extends SpooledTest {
    private static void write(PartSink sink, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        ByteBuf half = Unpooled.wrappedBuffer(bytes, 0, bytes.length / 2);
        ByteBuf rest = Unpooled.directBuffer().writeBytes(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        ByteBuf composite = Unpooled.compositeBuffer().addComponents(true, half, rest);
        try {
            sink.write(composite);
        } finally {
            composite.release();
        }
    }

    private static void writeAndPublish(PartSink sink, String... texts) throws IOException {
        try (sink) {
            for (String text : texts) {
                write(sink, text);
            }
            sink.complete();
            assertThrows(IllegalStateException.class, () -> write(sink, "late"));
            assertThrows(IllegalStateException.class, sink::complete);
            assertSame(Readiness.READY, sink.publish());
        }
        sink.close();
        assertThrows(IllegalStateException.class, () -> write(sink, "late"));
    }

    @Test
    void to_writesThePartAndLeavesTheTargetOpen() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            @Override
            public void close() {
                throw new AssertionError("the stream belongs to the application and must not be closed");
            }
        };
        writeAndPublish(PartSink.to(out), "ab", "cd");
        writeAndPublish(PartSink.to(Channels.newChannel(out)), "ef");
        assertEquals("abcdef", out.toString(StandardCharsets.US_ASCII));
    }

    @Test
    void to_nonBlockingOrStuckChannel_throws() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            assertThrows(IllegalBlockingModeException.class, () -> PartSink.to(channel));
        }
        assertThrows(IOException.class, () -> write(PartSink.to(new StuckChannel()), "x"));
    }

    @Test
    void tee_writesToBothSinks_andClosesBothAfterAFailure() throws IOException {
        ByteArrayOutputStream one = new ByteArrayOutputStream();
        ByteArrayOutputStream two = new ByteArrayOutputStream();
        PartSink greedy = new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) throws IOException {
                data.readBytes(one, data.readableBytes()); // moves the reader index, as a sink may
                return Readiness.READY;
            }
        };
        writeAndPublish(PartSink.tee(greedy, PartSink.to(two)), "ab", "c");
        assertTrue((one + "").startsWith("abc"));
        assertEquals("abc", two + "");
        FailingSink second = new FailingSink(new IOException("broken"), 0);
        FailingSink first = new FailingSink(new IOException("unused"), 10);
        PartSink tee = PartSink.tee(first, second);
        assertEquals(
                "broken", assertThrows(IOException.class, () -> write(tee, "x")).getMessage());
        tee.close();
        assertTrue(first.isClosed() && second.isClosed());
    }

    @Test
    void limited_acceptsItsLimitExactly() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        writeAndPublish(PartSink.limited(PartSink.to(out), 4), "ab", "cd");
        PartSink sink = PartSink.limited(PartSink.discard(), 4);
        write(sink, "abc");
        MultipartException failure = assertThrows(MultipartException.class, () -> write(sink, "de"));
        assertEquals(Reason.PART_TOO_LARGE, failure.reason());
        assertEquals("the size of the part body exceeds the limit of 4 bytes", failure.getMessage());
        sink.close();
        assertThrows(IllegalArgumentException.class, () -> PartSink.limited(sink, -1));
    }

    @Test
    void digest_isComputedWhileThePartIsWritten() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        writeAndPublish(PartSink.digest(digest, PartSink.to(out)), "a", "bc");
        assertEquals("abc", out + "");
        assertEquals(
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                HexFormat.of().formatHex(digest.digest()));
    }

    @Test
    void toFile_appearsOnlyWithItsForm_andIsComplete() throws IOException {
        Path target = root.resolve("target");
        for (boolean complete : new boolean[] {false, true}) {
            PartSink aborted = PartSink.toFile(spool, target);
            write(aborted, "half");
            if (complete) {
                aborted.complete();
            }
            assertFalse(Files.exists(target));
            assertEquals(1, spool.files());
            aborted.close();
            assertFalse(Files.exists(target));
        }
        writeAndPublish(PartSink.toFile(spool, target), "who", "le");
        assertEquals("whole", Files.readString(target));
        Path empty = root.resolve("empty");
        writeAndPublish(PartSink.toFile(spool, empty));
        assertEquals("", Files.readString(empty));
    }

    @Test
    void toFile_withSeveralTargets_usesTheFirstFreeOne() throws IOException {
        List<Path> names = Stream.of("a", "a-1", "a-2").map(root::resolve).toList();
        for (int number = 1; number <= 3; number++) {
            PartSink sink = PartSink.toFile(spool, names.iterator());
            write(sink, "file " + number);
            sink.complete();
            Files.writeString(names.get(0), "of another");
            if (number < 3) {
                sink.publish();
                assertEquals("file " + number, Files.readString(names.get(number)));
            } else {
                assertThrows(FileAlreadyExistsException.class, sink::publish);
            }
            sink.close();
        }
        assertEquals("of another", Files.readString(names.get(0)));
    }

    @Test
    void toFile_retract_deletesTheFileAndReportsAReplacedOne() throws IOException {
        Path target = root.resolve("target");
        for (boolean replaces : new boolean[] {false, true}) {
            PartSink sink = PartSink.toFile(spool, target, StandardCopyOption.REPLACE_EXISTING);
            write(sink, "new");
            sink.complete();
            sink.publish();
            assertEquals("new", Files.readString(target));
            if (replaces) {
                assertEquals(
                        "the replaced file cannot be restored: " + target,
                        assertThrows(IOException.class, sink::retract).getMessage());
            } else {
                sink.retract();
            }
            assertFalse(Files.exists(target));
            sink.close();
            Files.writeString(target, "old");
        }
    }

    @Test
    void toFile_unsupportedOption_throwsImmediately() {
        Path target = root.resolve("target");
        for (StandardCopyOption option : StandardCopyOption.values()) {
            if (option != StandardCopyOption.REPLACE_EXISTING) {
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> PartSink.toFile(spool, target, StandardCopyOption.REPLACE_EXISTING, option));
            }
        }
    }

    /** A sink that the test can publish or make fail. The test adds its name to {@code visible}; a retraction removes it. */
    private static class VisibleSink extends IdleSink {
        private final List<String> visible;
        private final String name;
        final Readiness publishing = Readiness.pending();

        VisibleSink(List<String> visible, String name) {
            this.visible = visible;
            this.name = name;
        }

        @Override
        public Readiness publish() {
            return publishing;
        }

        @Override
        public void retract() {
            assertTrue(publishing.isReady() && publishing.failure() == null);
            visible.remove(name);
        }
    }

    @Test
    void tee_publishesBothSinksOrNone() throws IOException {
        for (boolean firstFails : new boolean[] {false, true}) {
            List<String> visible = new ArrayList<>();
            VisibleSink first = new VisibleSink(visible, "first");
            VisibleSink second = new VisibleSink(visible, "second");
            PartSink tee = PartSink.tee(first, second);
            tee.complete();
            assertFalse(tee.publish().isReady());
            Readiness fails = (firstFails ? first : second).publishing;
            VisibleSink works = firstFails ? second : first;
            visible.add(works.name);
            works.publishing.ready();
            fails.fail(new IOException("broken"));
            tee.close();
            assertEquals(List.of(), visible);
        }
    }

    @Test
    void tee_closedWhilePublishing_publishesNone() throws IOException {
        List<String> visible = new ArrayList<>();
        VisibleSink first = new VisibleSink(visible, "first");
        VisibleSink second = new VisibleSink(visible, "second") {
            @Override
            public void close() {
                visible.add("first"); // as if another thread published the first sink now
                first.publishing.ready();
            }
        };
        PartSink tee = PartSink.tee(first, second);
        tee.complete();
        assertFalse(tee.publish().isReady());
        tee.close();
        assertEquals(List.of(), visible);
    }

    @Test
    void both_withOneReadinessTwice_isReadyOnceThatIsReady() {
        Readiness one = Readiness.pending();
        Readiness both = Readiness.both(one, one);
        assertFalse(both.isReady());
        one.ready();
        assertTrue(both.isReady());
    }

    @Test
    void tee_failsAsSoonAsOneSinkFails() throws IOException {
        for (boolean firstFails : new boolean[] {false, true}) {
            VisibleSink first = new VisibleSink(new ArrayList<>(), "first");
            VisibleSink second = new VisibleSink(new ArrayList<>(), "second");
            PartSink tee = PartSink.tee(first, second);
            tee.complete();
            Readiness published = tee.publish();
            IOException broken = new IOException("broken");
            (firstFails ? first : second).publishing.fail(broken);
            assertSame(broken, published.failure(), "the failure of one sink waits for the other");
            tee.close();
        }
    }
}
