package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.HostileBodies;
import dev.sluice.testkit.LinearWork;
import dev.sluice.testkit.ProofSize;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(ExactLeaks.class)
class DelimiterSearchTest {
    private static final String BROWSER = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

    /** Boundaries for each code path that depends on the length, and boundaries that are hard to search for. */
    private static final String[] BOUNDARIES = ("x|ab|-|----|x-----|0123456789|0123456789a|0123456789ab|" + BROWSER
                    + "|" + "-".repeat(70) + "|b" + "a".repeat(69))
            .split("\\|");

    /** The number of bytes of a hostile body in large chunks, more than the warm-up of the search. */
    private static final int HOSTILE = ProofSize.of("sluice.hostile", 50_000, 150_000);

    /** The number of random bodies that are split at every index, for each boundary. */
    private static final int ROUNDS = ProofSize.of("sluice.searched", 1, 2);

    private static final char DELIMITER = 256;
    private static final char LOOKALIKE = DELIMITER + 3;

    @Tag("sized")
    @ParameterizedTest
    @EnumSource
    void find_everySplitInTwo_givesSameResult(BufferKind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            for (String boundary : BOUNDARIES) {
                for (boolean lf : new boolean[] {false, true}) {
                    byte[] body = randomBody(new Random(round * 31L + boundary.hashCode()), boundary, 24);
                    for (int cut = 0; cut <= body.length; cut++) {
                        checkSplit(kind, body, boundary, lf, cut % 2 == 0, 0, cut, body.length);
                    }
                }
            }
        }
    }

    @Test
    void find_randomBodies_matchesNaiveSearch() {
        Random random = new Random(20261120);
        for (int round = 0; round < 30_000; round++) {
            String boundary = BOUNDARIES[random.nextInt(BOUNDARIES.length)];
            byte[] body = randomBody(random, boundary, 1 + random.nextInt(40));
            int[] cuts =
                    random.ints(random.nextInt(6), 0, body.length + 1).sorted().toArray();
            int[] all = Arrays.copyOf(cuts, cuts.length + 2);
            all[cuts.length] = 0;
            all[cuts.length + 1] = body.length;
            Arrays.sort(all);
            BufferKind[] kinds = BufferKind.values();
            checkSplit(kinds[round % kinds.length], body, boundary, random.nextBoolean(), random.nextBoolean(), all);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HEAP", "POOLED_DIRECT", "DIRECT_SLICE", "UNTRACKED_COMPOSITE"})
    void find_delimitersFarApartInLargeChunks_findsAll(BufferKind kind) {
        Random random = new Random(7);
        for (String boundary : BOUNDARIES) {
            byte[] text = text(boundary);
            for (boolean lf : new boolean[] {false, true}) {
                byte[] body = new byte[100_000];
                random.nextBytes(body);
                for (int at = 0; at + text.length < body.length; at += text.length + random.nextInt(9000)) {
                    int head = lf ? random.nextInt(2) : 0;
                    System.arraycopy(text, head, body, at, text.length - head);
                }
                checkSplit(kind, body, boundary, lf, false, 0, body.length);
                checkSplit(kind, body, boundary, lf, false, uniform(body.length, 8192));
                checkSplit(kind, body, boundary, lf, false, uniform(body.length, 1000 + random.nextInt(1000)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HEAP", "POOLED_DIRECT"})
    void find_delimiterAtEveryIndex_findsIt(BufferKind kind) {
        for (String boundary : new String[] {BROWSER, "0123456789", "x"}) {
            byte[] text = text(boundary);
            Delimiter delimiter = Delimiter.of(boundary.getBytes(ISO_8859_1));
            for (int place = 0; place <= 2500; place++) {
                byte[] body = new byte[2500 + text.length];
                System.arraycopy(text, 0, body, place, text.length);
                try (Opened opened = new Opened(kind.of(body))) {
                    for (int warmUp : new int[] {0, Integer.MAX_VALUE}) {
                        DelimiterSearch search =
                                new DelimiterSearch(delimiter, false, warmUp, DelimiterSearch.MAX_KERNEL_INDEX);
                        assertEquals(place, search.find(opened.memory, 0, body.length));
                        assertTrue(search.isComplete());
                    }
                }
            }
        }
    }

    @Test
    void passes_pauseAfterCandidate() {
        byte[] text = text("x");
        byte[] body = new byte[200_000];
        for (int i = 0; i < 100_000; i += 512) {
            body[i + 2] = text[2];
            body[i + text.length - 1] = text[text.length - 1];
        }
        try (Opened opened = new Opened(Unpooled.wrappedBuffer(body))) {
            DelimiterSearch search = new DelimiterSearch(delimiter("x"), false, 0, DelimiterSearch.MAX_KERNEL_INDEX);
            for (int from = 0; from < 100_000; from += 10_000) {
                long before = search.passesResumeAt;
                search.find(opened.memory, from, from + 10_000);
                long paused = search.passesResumeAt - before;
                assertTrue(paused > 5_000 && paused < 15_000, "passes pause for " + paused + " bytes from " + from);
            }
            long last = search.passesResumeAt;
            search.find(opened.memory, 100_000, 200_000);
            assertEquals(last, search.passesResumeAt, "the passes pause without a candidate");
        }
    }

    /** Close to the largest {@code int}, index arithmetic in the kernels would overflow, so the slow path is used. */
    @Test
    void find_beyondMaxKernelIndex_givesSameResult() {
        byte[] body = new byte[1200];
        byte[] text = text(BROWSER);
        System.arraycopy(text, 0, body, body.length - text.length, text.length);
        checkLastIndexOfKernels(Unpooled.wrappedBuffer(body), body.length);
    }

    /** The kernels use indices of the memory. In a slice of a large buffer they are larger than the indices of the chunk. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void maxKernelIndex_appliesToMemoryIndex(boolean direct) {
        int offset = 1100;
        byte[] body = new byte[1200];
        byte[] text = text(BROWSER);
        System.arraycopy(text, 0, body, body.length - text.length, text.length);
        ByteBuf memory = direct
                ? Unpooled.directBuffer().writeZero(offset).writeBytes(body)
                : Unpooled.buffer().writeZero(offset).writeBytes(body);
        checkLastIndexOfKernels(memory.slice(offset, body.length), offset + body.length);
    }

    /** The result of a kernel is converted back to an index of the chunk, which must not overflow either. */
    @Test
    void maxKernelIndex_appliesToChunkIndex() {
        byte[] body = new byte[1200];
        byte[] text = text(BROWSER);
        System.arraycopy(text, 0, body, body.length - text.length, text.length);
        ByteBuf chunk = new UnpooledDirectByteBuf(UnpooledByteBufAllocator.DEFAULT, 2300, 2300) {
            @Override
            public boolean hasMemoryAddress() {
                return false;
            }

            @Override
            public ByteBuf unwrap() {
                return Unpooled.EMPTY_BUFFER; // not a root, so its view starts at the reader index
            }
        };
        checkLastIndexOfKernels(chunk.writeZero(1100).writeBytes(body).skipBytes(1100), 2300);
    }

    /** Searches a chunk that ends with a delimiter. Grams are created only if the kernels are used. */
    private static void checkLastIndexOfKernels(ByteBuf chunk, int last) {
        try (Opened opened = new Opened(chunk)) {
            int from = opened.memory.start();
            int to = opened.memory.end();
            assertTrue(opened.memory.isFlat());
            for (int maxKernelIndex : new int[] {last - 1, last}) {
                Delimiter delimiter = delimiter(BROWSER);
                DelimiterSearch search = new DelimiterSearch(delimiter, false, 0, maxKernelIndex);
                assertEquals(to - delimiter.length(), search.find(opened.memory, from, to));
                assertTrue(search.isComplete());
                assertEquals(maxKernelIndex == last, delimiter.grams != null);
            }
        }
    }

    @Test
    void grams_pauseAfterManyFalseAlarms() {
        byte[] text = text(BROWSER);
        byte[] body = new byte[400_000];
        for (int i = 0; i < 100_000; i++) {
            body[i] = text[8 + i % (text.length - 8)]; // no dash, so no pass finds a candidate
        }
        DelimiterSearch search = new DelimiterSearch(delimiter(BROWSER), false, 0, DelimiterSearch.MAX_KERNEL_INDEX);
        try (Opened opened = new Opened(Unpooled.wrappedBuffer(body))) {
            search.find(opened.memory, 0, 10_000);
            long resumeAt = search.gramsResumeAt;
            assertTrue(resumeAt > 1 << 16 && resumeAt < (1 << 16) + 1000, "grams pause soon, until " + resumeAt);
            search.find(opened.memory, 10_000, (int) resumeAt);
            assertEquals(resumeAt, search.gramsResumeAt, "the grams do not pause");
            search.find(opened.memory, (int) resumeAt, 100_000);
            assertTrue(search.gramsResumeAt > 2 << 16, "the grams do not pause again");
            long second = search.gramsResumeAt;
            search.find(opened.memory, 100_000, 400_000);
            assertEquals(second, search.gramsResumeAt, "the grams pause before the end");
        }
    }

    @Test
    void grams_pauseWithinLongChunk() {
        byte[] body = new byte[1_000_000];
        new Random(5).nextBytes(body);
        Arrays.fill(body, 300_000, 600_000, text(BROWSER)[5]);
        for (int chunkSize : new int[] {8192, body.length}) {
            DelimiterSearch search = new DelimiterSearch(delimiter(BROWSER), false);
            findAll(search, BufferKind.HEAP, body, chunkSize);
            long resumeAt = search.gramsResumeAt;
            assertTrue(resumeAt > 600_000 && resumeAt < 600_000 + (1 << 16), "last pause until " + resumeAt);
        }
    }

    private static Delimiter delimiter(String boundary) {
        return Delimiter.of(boundary.getBytes(ISO_8859_1));
    }

    @Test
    void grams_shortBody_areNotUsed() {
        byte[] body = new byte[400_000];
        byte[] text = text(BROWSER);
        System.arraycopy(text, 0, body, 399_000, text.length);
        Delimiter delimiter = delimiter(BROWSER);
        DelimiterSearch search = new DelimiterSearch(delimiter, false);
        try (Opened opened = new Opened(Unpooled.wrappedBuffer(body))) {
            search.find(opened.memory, 0, 16_000);
            assertNull(delimiter.grams);
            search.find(opened.memory, 16_000, 24_000);
            assertNotNull(delimiter.grams);
            assertEquals(399_000, search.find(opened.memory, 30_000, 400_000));
            assertTrue(search.isComplete());
        }
    }

    @Test
    void grams_withoutCollisionFreeTable_areNotUsed() {
        byte[] body = new byte[100_000];
        byte[] text = text(BROWSER);
        System.arraycopy(text, 0, body, 99_000, text.length);
        Delimiter delimiter = delimiter(BROWSER);
        delimiter.grams = Grams.NONE;
        DelimiterSearch search = new DelimiterSearch(delimiter, false);
        try (Opened opened = new Opened(Unpooled.wrappedBuffer(body))) {
            assertEquals(99_000, search.find(opened.memory, 0, 100_000));
            assertTrue(search.isComplete());
        }
    }

    @Test
    void grams_areUsedOnlyForLongDelimiters() {
        assertFalse(usesGrams(BufferKind.HEAP, 27));
        assertTrue(usesGrams(BufferKind.HEAP, 28));
        assertFalse(usesGrams(BufferKind.UNTRACKED_COMPOSITE, 28));
        assertEquals(28, DelimiterSearch.minStride(ArrayKernel.MIN_PASS_LENGTH));
        assertEquals(12, DelimiterSearch.minStride(ViewKernel.NO_PASSES));
    }

    /** A stride that exceeds the number of grams would miss delimiters. */
    @Test
    void stride_isShortened_neverExtended() {
        for (int grams = 1; grams < 80; grams++) {
            assertEquals(grams >= 32 && grams <= 46 ? 32 : grams, DelimiterSearch.stride(grams, 24));
            assertEquals(grams, DelimiterSearch.stride(grams, 25));
        }
    }

    private static boolean usesGrams(BufferKind kind, int boundaryLength) {
        Delimiter delimiter = delimiter("b".repeat(boundaryLength));
        findAll(new DelimiterSearch(delimiter, false), kind, new byte[100_000], 8192);
        return delimiter.grams != null;
    }

    @Tag("sized")
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 64, 1000, 8192, 150_000})
    void find_hostileBodies_isLinear(int chunkSize) {
        int bytes = chunkSize < 1000 ? 20_000 : HOSTILE;
        for (HostileBodies.Body hostile : HostileBodies.all()) {
            for (boolean lf : new boolean[] {false, true}) {
                for (BufferKind kind :
                        new BufferKind[] {BufferKind.HEAP, BufferKind.POOLED_DIRECT, BufferKind.UNTRACKED_COMPOSITE}) {
                    LinearWork.require(kind + ", lf " + lf + ", " + hostile, bytes, size -> {
                        Delimiter delimiter = delimiter(hostile.boundary());
                        byte[] body = hostile.bytes(size);
                        return () -> findAll(new DelimiterSearch(delimiter, lf), kind, body, chunkSize);
                    });
                }
            }
        }
    }

    @Test
    void resume_longDelimiterInSmallChunks_isLinear() {
        LinearWork.require("boundary", 16_000, size -> {
            Delimiter delimiter = delimiter("b".repeat(size));
            byte[] almost = Arrays.copyOf(text("b".repeat(size)), size);
            return () -> findAll(new DelimiterSearch(delimiter, false), BufferKind.HEAP, almost, 1);
        });
    }

    @Test
    void bareLf_crOutsideRange_isNotPartOfDelimiter() {
        try (Opened opened = new Opened(Unpooled.copiedBuffer("a\r\n--xyz", ISO_8859_1))) {
            DelimiterSearch search = new DelimiterSearch(Delimiter.of("xyz".getBytes(ISO_8859_1)), true);
            assertEquals(1, search.find(opened.memory, 0, 8));
            assertEquals(0, search.matchStart());
            search.reset();
            assertEquals(2, search.find(opened.memory, 2, 8));
            assertEquals(1, search.matchStart());
            assertTrue(search.isComplete());
        }
    }

    @Test
    void find_ignoresBytesAfterRange() {
        DelimiterSearch search = new DelimiterSearch(Delimiter.of("xyz".getBytes(ISO_8859_1)), true);
        try (Opened opened = new Opened(Unpooled.copiedBuffer("abc\n--xyz", ISO_8859_1))) {
            assertEquals(3, search.find(opened.memory, 0, 3));
            assertEquals(0, search.matchEnd());
        }
    }

    @Test
    void match_continuesAcrossChunks() {
        Delimiter delimiter = Delimiter.of("xyz".getBytes(ISO_8859_1));
        DelimiterSearch search = new DelimiterSearch(delimiter, false);
        ChunkMemory memory = new ChunkMemory();
        memory.open(Unpooled.copiedBuffer("ab\r\n-", ISO_8859_1));
        assertEquals(2, search.find(memory, 0, 5));
        assertEquals(3, search.matchEnd());
        assertFalse(search.isComplete());
        memory.close();
        memory.open(Unpooled.copiedBuffer("-x", ISO_8859_1));
        assertEquals(2, search.resume(memory, 0, 2));
        assertEquals(5, search.matchEnd());
        memory.close();
        memory.open(Unpooled.copiedBuffer("y!", ISO_8859_1));
        assertEquals(1, search.resume(memory, 0, 2));
        assertEquals(0, search.matchEnd());
        assertEquals(
                "\r\n--xy",
                delimiter.text(search.failedStart(), search.failedEnd()).toString(ISO_8859_1));
        memory.close();
    }

    @Test
    void lookalike_watched_stopsSearch() {
        DelimiterSearch search = new DelimiterSearch(Delimiter.of("xyz".getBytes(ISO_8859_1)), false);
        assertFalse(search.isWatching());
        search.watch(true);
        assertTrue(search.isWatching());
        try (Opened opened = new Opened(Unpooled.copiedBuffer("ab\n--xyz\r--xyz", ISO_8859_1))) {
            assertEquals(6, search.find(opened.memory, 0, 6));
            assertEquals(4, search.lookalike());
            assertEquals(0, search.matchEnd());
            assertEquals(7, search.find(opened.memory, 6, 14));
            assertTrue(search.isAtLookalike());
            assertThrows(IllegalStateException.class, () -> search.find(opened.memory, 7, 14));
            search.watch(false);
            assertEquals(14, search.find(opened.memory, 7, 14));
            assertEquals(0, search.lookalike());
        }
    }

    @Test
    void resume_primedMatchFails_failedTextIsEmpty() {
        DelimiterSearch search = new DelimiterSearch(Delimiter.of("xyz".getBytes(ISO_8859_1)), false);
        search.prime();
        assertEquals(2, search.matchEnd());
        assertEquals(2, search.matchStart());
        try (Opened opened = new Opened(Unpooled.copiedBuffer("data", ISO_8859_1))) {
            assertEquals(0, search.resume(opened.memory, 0, 4));
        }
        assertEquals(0, search.matchEnd());
        assertEquals(search.failedStart(), search.failedEnd());
    }

    @Test
    void calls_inWrongState_areRejected() {
        DelimiterSearch search = new DelimiterSearch(Delimiter.of("x".getBytes(ISO_8859_1)), false);
        try (Opened opened = new Opened(Unpooled.copiedBuffer("\r\n--x", ISO_8859_1))) {
            assertThrows(IllegalStateException.class, () -> search.resume(opened.memory, 0, 5));
            search.find(opened.memory, 0, 5);
            assertThrows(IllegalStateException.class, () -> search.find(opened.memory, 0, 5));
            assertThrows(IllegalStateException.class, () -> search.resume(opened.memory, 0, 5));
            search.reset();
            assertThrows(IndexOutOfBoundsException.class, () -> search.find(opened.memory, 0, 6));
            assertThrows(IndexOutOfBoundsException.class, () -> search.find(opened.memory, -1, 5));
            search.prime();
            assertThrows(IndexOutOfBoundsException.class, () -> search.resume(opened.memory, 3, 2));
        }
    }

    private static void checkSplit(
            BufferKind kind, byte[] body, String boundary, boolean lf, boolean primed, int... cuts) {
        for (boolean watch : new boolean[] {false, true}) {
            checkSplit(kind, body, boundary, lf, primed, watch, cuts);
        }
    }

    private static void checkSplit(
            BufferKind kind, byte[] body, String boundary, boolean lf, boolean primed, boolean watch, int... cuts) {
        String expected = naiveSearch(new String(body, ISO_8859_1), boundary, lf, primed, watch);
        String found = search(kind, body, boundary, lf, primed, watch, cuts);
        if (!expected.equals(found)) {
            throw new AssertionError("kind " + kind + ", boundary " + boundary + ", lf " + lf + ", primed " + primed
                    + ", watch " + watch + ", cuts " + Arrays.toString(cuts) + "\nbody     "
                    + escaped(new String(body, ISO_8859_1))
                    + "\nexpected " + escaped(expected) + "\nfound    " + escaped(found));
        }
    }

    /**
     * Returns the data of the body, found with the search under test. Each delimiter is replaced by a character beyond Latin-1 that
     * encodes {@link DelimiterSearch#matchStart()}, and {@link #LOOKALIKE} is inserted before the last byte of each lookalike.
     */
    private static String search(
            BufferKind kind, byte[] body, String boundary, boolean lf, boolean primed, boolean watch, int... cuts) {
        Delimiter delimiter = Delimiter.of(boundary.getBytes(ISO_8859_1));
        DelimiterSearch search = new DelimiterSearch(delimiter, lf, 0, DelimiterSearch.MAX_KERNEL_INDEX);
        StringBuilder out = new StringBuilder();
        search.watch(watch);
        if (primed) {
            search.prime();
        }
        for (int c = 1; c < cuts.length; c++) {
            int to = cuts[c];
            int at = cuts[c - 1];
            if (at == to) {
                continue;
            }
            try (Opened opened = new Opened(kind.of(body, at, to))) {
                int shift = opened.memory.start() - at;
                while (at < to) {
                    if (search.matchEnd() != 0) {
                        at = search.resume(opened.memory, at + shift, to + shift) - shift;
                        if (search.matchEnd() == 0) {
                            out.append(delimiter
                                    .text(search.failedStart(), search.failedEnd())
                                    .toString(ISO_8859_1));
                        }
                    } else {
                        int start = search.find(opened.memory, at + shift, to + shift) - shift;
                        out.append(opened.bytes(at + shift, start + shift));
                        at = start + Math.max(0, search.matchEnd() - search.matchStart());
                    }
                    if (search.isAtLookalike()) {
                        out.append(LOOKALIKE);
                        search.watch(true);
                    }
                    if (search.isComplete()) {
                        out.append((char) (DELIMITER + search.matchStart()));
                        search.reset();
                        if (primed) {
                            search.prime();
                        }
                    }
                }
            }
        }
        if (search.matchEnd() > 0) {
            out.append(delimiter.text(search.matchStart(), search.matchEnd()).toString(ISO_8859_1));
        }
        return out.toString();
    }

    /** Returns the expected result of {@link #search}, computed in the simplest way. */
    private static String naiveSearch(String body, String boundary, boolean lf, boolean primed, boolean watch) {
        String text = "\r\n--" + boundary;
        StringBuilder out = new StringBuilder();
        boolean afterLineEnd = primed;
        int lookalike = -1;
        for (int at = 0; at < body.length(); ) {
            int first = -1;
            if (afterLineEnd && body.startsWith(text.substring(2), at)) {
                first = 2;
            } else if (body.startsWith(text, at)) {
                first = 0;
            } else if (lf && body.startsWith(text.substring(1), at)) {
                first = 1;
            }
            boolean bare = at > 0
                    && (body.charAt(at - 1) == '\r' || body.charAt(at - 1) == '\n' && !lf)
                    && !(at > 1 && body.startsWith("\r\n", at - 2));
            if (watch && first < 0 && bare && body.startsWith(text.substring(2), at)) {
                lookalike = at + text.length() - 3;
            }
            if (at == lookalike) {
                out.append(LOOKALIKE);
            }
            out.append(first < 0 ? body.charAt(at) : (char) (DELIMITER + first));
            at += first < 0 ? 1 : text.length() - first;
            afterLineEnd = first >= 0 && primed;
        }
        return out.toString();
    }

    private static void findAll(DelimiterSearch search, BufferKind kind, byte[] body, int chunkSize) {
        try (Opened opened = new Opened(kind.of(body))) {
            for (int from = 0; from < body.length; from += chunkSize) {
                int to = Math.min(body.length, from + chunkSize);
                int at = from;
                while (at < to) {
                    if (search.matchEnd() != 0) {
                        at = search.resume(opened.memory, at, to);
                    } else {
                        at = search.find(opened.memory, at, to) + search.matchEnd() - search.matchStart();
                    }
                    if (search.isComplete()) {
                        search.reset();
                    }
                }
            }
        }
    }

    /** Returns a body of delimiters, parts of delimiters, line breaks and other bytes in random order. */
    private static byte[] randomBody(Random random, String boundary, int tokens) {
        String text = "\r\n--" + boundary;
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < tokens; i++) {
            switch (random.nextInt(9)) {
                case 0 -> body.append('\r');
                case 1 -> body.append('\n');
                case 2 -> body.append("\r\n");
                case 3 -> body.append('-');
                case 4 -> body.append(text);
                case 5 -> body.append(text, 0, random.nextInt(text.length()));
                case 6 -> body.append(text, 1 + random.nextInt(text.length() - 1), text.length());
                case 7 -> body.append((char) random.nextInt(256));
                default -> body.append("x".repeat(random.nextInt(30)));
            }
        }
        return body.toString().getBytes(ISO_8859_1);
    }

    private static int[] uniform(int length, int size) {
        int[] cuts = new int[(length + size - 1) / size + 1];
        for (int i = 0; i < cuts.length; i++) {
            cuts[i] = Math.min(length, i * size);
        }
        return cuts;
    }

    private static byte[] text(String boundary) {
        return ("\r\n--" + boundary).getBytes(ISO_8859_1);
    }

    private static String escaped(String bytes) {
        return bytes.replace("\r", "\\r").replace("\n", "\\n");
    }

    /** An open chunk for a try statement, which closes it. */
    private static final class Opened implements AutoCloseable {
        final ChunkMemory memory = new ChunkMemory();

        Opened(ByteBuf chunk) {
            memory.open(chunk);
        }

        String bytes(int from, int to) {
            byte[] bytes = new byte[to - from];
            memory.copyTo(from, bytes, 0, bytes.length);
            return new String(bytes, ISO_8859_1);
        }

        @Override
        public void close() {
            memory.close();
        }
    }
}
