package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the ready-made sinks do with a part, and with misuse. */
@ExtendWith(LeakCheck.class)
class SinksTest {
    @TempDir
    Path root;

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

    private static void give(PartSink sink, String... texts) throws IOException {
        try (sink) {
            for (String text : texts) {
                write(sink, text);
            }
            sink.complete();
            assertThrows(IllegalStateException.class, () -> write(sink, "late"));
            assertThrows(IllegalStateException.class, sink::complete);
        }
        sink.close();
        assertThrows(IllegalStateException.class, () -> write(sink, "late"));
    }

    @Test
    void memoryHoldsThePartUpToItsLimit() throws IOException {
        MemoryBudget budget = MemoryBudget.of(100_000);
        MemorySink sink = MemorySink.create(10, budget);
        write(sink, "01234");
        assertThrows(IllegalStateException.class, sink::toByteArray);
        write(sink, "56789");
        assertThrows(MultipartException.class, () -> write(sink, "x"));
        sink.complete();
        assertEquals("0123456789", new String(sink.toByteArray(), StandardCharsets.US_ASCII));
        assertEquals(10, budget.used());
        sink.close();
        assertEquals(0, budget.used());
        give(MemorySink.create(10, budget), "a", "", "b");
        MemorySink poor = MemorySink.create(10, MemoryBudget.of(10));
        assertThrows(CapacityException.class, () -> write(poor, "x"));
        poor.close();
    }

    @Test
    void streamsAndChannelsGetThePartAndStayOpen() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            @Override
            public void close() {
                throw new AssertionError("it belongs to the application");
            }
        };
        give(PartSink.to(out), "ab", "cd");
        give(PartSink.to(Channels.newChannel(out)), "ef");
        assertEquals("abcdef", out.toString(StandardCharsets.US_ASCII));
    }

    @Test
    void aChannelThatDoesNotBlockIsRefusedAndOneThatTakesNothingFails() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            assertThrows(IllegalBlockingModeException.class, () -> PartSink.to(channel));
        }
        WritableByteChannel stuck = new WritableByteChannel() {
            @Override
            public int write(ByteBuffer source) {
                return 0;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
        assertThrows(IOException.class, () -> write(PartSink.to(stuck), "x"));
    }

    @Test
    void aTeeGivesEverythingToBothAndClosesBothWhateverHappens() throws IOException {
        ByteArrayOutputStream one = new ByteArrayOutputStream();
        ByteArrayOutputStream two = new ByteArrayOutputStream();
        give(PartSink.tee(MemoryTap.of(one), PartSink.to(two)), "ab", "c");
        assertEquals("abc", one + "");
        assertEquals("abc", two + "");
        FailingSink second = new FailingSink(new IOException("broken"), 0);
        FailingSink first = new FailingSink(new IOException("unused"), 10);
        PartSink tee = PartSink.tee(first, second);
        assertEquals(
                "broken", assertThrows(IOException.class, () -> write(tee, "x")).getMessage());
        tee.close();
        assertTrue(first.isClosed() && second.isClosed());
    }

    /** Moves the reader index, as a sink may. */
    private record MemoryTap(ByteArrayOutputStream out, SinkState state) implements PartSink {
        static PartSink of(ByteArrayOutputStream out) {
            return new MemoryTap(out, new SinkState());
        }

        @Override
        public void write(ByteBuf data) throws IOException {
            state.checkWritable();
            data.readBytes(out, data.readableBytes());
        }

        @Override
        public void complete() {
            state.complete();
        }

        @Override
        public void close() {
            state.close();
        }
    }

    @Test
    void aLimitedSinkPassesItsLimitAndFailsOneBeyond() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        give(PartSink.limited(PartSink.to(out), 4), "ab", "cd");
        PartSink sink = PartSink.limited(PartSink.discard(), 4);
        write(sink, "abc");
        MultipartException failure = assertThrows(MultipartException.class, () -> write(sink, "de"));
        assertEquals(Reason.PART_TOO_LARGE, failure.reason());
        assertEquals("the size of the part body exceeds the limit of 4 bytes (set for its sink)", failure.getMessage());
        sink.close();
        assertThrows(IllegalArgumentException.class, () -> PartSink.limited(sink, -1));
        give(PartSink.discard(), "x");
    }

    @Test
    void aDigestIsMadeInTheSamePass() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DigestSink sink = DigestSink.create("SHA-256", PartSink.to(out));
        assertThrows(IllegalStateException.class, sink::digest);
        give(sink, "a", "bc");
        assertEquals("abc", out + "");
        assertEquals(
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                HexFormat.of().formatHex(sink.digest()));
        assertArrayEquals(
                MessageDigest.getInstance("SHA-256").digest("abc".getBytes(StandardCharsets.US_ASCII)), sink.digest());
        assertThrows(IllegalArgumentException.class, () -> DigestSink.create("no such", PartSink.discard()));
    }

    @Test
    void aFileIsThereInFullOrNotAtAll() throws IOException {
        Path target = root.resolve("target");
        try (SpoolDirectory spool =
                SpoolDirectory.builder(root.resolve("spool")).keepFreeBytes(0).open()) {
            FileSink aborted = FileSink.create(spool, target);
            write(aborted, "half");
            assertFalse(Files.exists(target));
            assertEquals(1, spool.files());
            aborted.close();
            assertFalse(Files.exists(target));
            give(FileSink.create(spool, target), "who", "le");
            assertEquals("whole", Files.readString(target));
            Path empty = root.resolve("empty");
            give(FileSink.create(spool, empty));
            assertEquals("", Files.readString(empty));
            assertEquals(0, spool.files());
        }
    }

    @Test
    void aSpillSinkHandsOutItsContentOnce() throws IOException {
        MemoryBudget budget = MemoryBudget.of(100_000);
        try (SpoolDirectory spool =
                SpoolDirectory.builder(root.resolve("spool")).keepFreeBytes(0).open()) {
            SpillSink sink = SpillSink.create(spool, 4, budget);
            assertThrows(IllegalStateException.class, sink::takeContent);
            give(sink, "abcd");
            assertEquals(4, budget.used());
            sink.takeContent().close(); // closed, but not lost
            assertEquals(0, budget.used());
            assertThrows(IllegalStateException.class, sink::takeContent);
            SpillSink spilled = SpillSink.create(spool, 4, MemoryBudget.of(0));
            write(spilled, "ab"); // no memory: to the file at once
            spilled.complete();
            try (PartContent content = spilled.takeContent()) {
                assertFalse(content.isInMemory());
                assertEquals(2, content.size());
            }
            assertThrows(IllegalStateException.class, spilled::takeContent);
            spilled.close();
            assertEquals(0, spool.files());
        }
    }

    @Test
    void aSpillSinkThatIsDiscardedKeepsNothing() throws IOException {
        MemoryBudget budget = MemoryBudget.of(100_000);
        try (SpoolDirectory spool =
                SpoolDirectory.builder(root.resolve("spool")).keepFreeBytes(0).open()) {
            for (long threshold : new long[] {0, 100}) {
                SpillSink complete = SpillSink.create(spool, threshold, budget);
                give(complete, "abcd");
                assertEquals(threshold == 0 ? 1 : 0, spool.files());
                complete.discard();
                complete.discard();
                assertThrows(IllegalStateException.class, complete::takeContent);
                SpillSink half = SpillSink.create(spool, threshold, budget);
                write(half, "abcd");
                half.discard();
                assertThrows(IllegalStateException.class, half::takeContent);
                assertEquals(0, spool.files());
                assertEquals(0, budget.used());
            }
        }
    }

    @Test
    void memoryIsReadableButNotChargedOnceItsSinkIsClosed() throws IOException {
        MemoryBudget budget = MemoryBudget.of(100_000);
        MemorySink sink = MemorySink.create(10, budget);
        give(sink, "abcd");
        assertEquals(0, budget.used());
        assertEquals("abcd", new String(sink.toByteArray(), StandardCharsets.US_ASCII));
    }

    @Test
    void nothingOfWhatWasDecidedIsForLogs() throws IOException {
        try (SpoolDirectory spool = SpoolDirectory.builder(root.resolve("spool"))
                        .keepFreeBytes(0)
                        .open();
                MultipartForm form = new Upload()
                        .file("secret", "secret", "1")
                        .read(FormOptions.builder(spool, MemoryBudget.unlimited())
                                .build())) {
            FormPart part = form.parts().get(0);
            assertEquals(
                    List.of(),
                    List.of(part + "", part.head() + "").stream()
                            .filter(text -> text.contains("secret"))
                            .toList());
            assertNull(form.part("other"));
        }
    }
}
