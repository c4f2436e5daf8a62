package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartDecoder.State;
import dev.sluice.header.HeaderState;
import dev.sluice.testkit.ProofSize;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An exploration of all states that a decoder can reach. It shows for each state that the result does not depend on how the bytes are split
 * into chunks.
 *
 * <p>A decoder with small limits has a finite number of <em>abstract states</em>. An abstract state contains everything that decides
 * what the decoder does next; counters are capped at their limits. The exploration starts with a new decoder. It feeds each of the
 * 256 byte values to a decoder in each state found so far, until there are no new states. For each state it keeps one body that leads
 * to the state, the <em>witness</em>. Then it checks each state:
 *
 * <ul>
 *   <li>The witness has the same result in one chunk, in any two chunks, and in chunks of one byte.
 *   <li>The same is true for the witness followed by any word. Byte values that have the same effect in every state form a class, and words
 *       use one byte of each class. A word is a sequence of two or three such bytes (two in short builds), or a delimiter with such a byte
 *       before it, after it, or in place of one of its bytes. Delimiters are split into two chunks at any place (at every eighth
 *       in short builds).
 *   <li>Random bodies lead to a known abstract state, and have the same future as its witness: each byte causes the same events and
 *       leads to the same abstract state. This is evidence that abstract states contain everything that matters.
 * </ul>
 *
 * <p>The compared result is all output, and the concrete state as in {@link StateHash}. Bodies are of type {@code multipart/mixed}, so
 * that a header section can be empty. States with 4 to 253 blanks after a delimiter are explored with one byte of each class, and words
 * are not tried in them. Their witnesses are split at every 16th byte.
 */
@Tag("sized")
class ExplorationTest {
    /** The number of random bodies whose future is compared with the future of another body in the same abstract state. */
    private static final int WALKS = ProofSize.of("sluice.exploration.walks", 1_000, 20_000);

    private static final UnpooledByteBufAllocator HEAP = new UnpooledByteBufAllocator(false, true);

    /** The length of the longest words. */
    private static final int WORDS = ProofSize.of("sluice.exploration.words", 2, 3);

    /** The step between the places where delimiters are split. */
    private static final int STRIDE = ProofSize.of("sluice.exploration.stride", 8, 1);

    /** Small limits; -1 for no limit. An abstract state contains the counters of the limits that are set. */
    private record Limits(int body, int part, int parts, int preamble, int epilogue, int header, int headers) {
        static final Limits SMALL = new Limits(-1, 2, 2, 2, 2, 6, 1);

        /** Limits that are large enough for a false delimiter of a boundary of one character. */
        static final Limits FOR_FALSE_DELIMITERS = new Limits(-1, 6, 2, 6, 2, 4, 1);

        MultipartOptions options(Preset preset) {
            MultipartOptions.Builder options = MultipartOptions.builder()
                    .preset(preset)
                    .allocator(HEAP)
                    .maxParts(parts)
                    .maxPreambleBytes(preamble)
                    .maxEpilogueBytes(epilogue)
                    .maxHeaderBytesPerPart(header)
                    .maxHeadersPerPart(headers);
            if (body >= 0) {
                options.maxBodyBytes(body);
            }
            if (part >= 0) {
                options.maxPartBytes(part);
            }
            return options.build();
        }
    }

    private static final Set<String> STANDARD = transitions("""
            PREAMBLE > PREAMBLE DELIMITER FAILED
            DELIMITER > PADDING DELIMITER_CR CLOSE_DASH FAILED
            PADDING > PADDING DELIMITER_CR FAILED
            DELIMITER_CR > HEADERS FAILED
            HEADERS > HEADERS BODY FAILED
            BODY > BODY DELIMITER FAILED
            CLOSE_DASH > CLOSED FAILED
            CLOSED > CLOSED CLOSED_CR FAILED
            CLOSED_CR > EPILOGUE FAILED
            EPILOGUE > EPILOGUE FAILED
            end CLOSED > ENDED
            end EPILOGUE > ENDED
            end CLOSED_CR > FAILED
            end PREAMBLE > FAILED
            end DELIMITER > FAILED
            end PADDING > FAILED
            end DELIMITER_CR > FAILED
            end CLOSE_DASH > FAILED
            end HEADERS > FAILED
            end BODY > FAILED
            """);

    /** The transitions that are added if false delimiters, text after the close-delimiter and bare LF are accepted. */
    private static final Set<String> ADDED_BY_COMPATIBLE = transitions("""
            DELIMITER > HEADERS BODY PREAMBLE
            PADDING > HEADERS BODY PREAMBLE
            DELIMITER_CR > BODY PREAMBLE
            CLOSE_DASH > BODY PREAMBLE
            CLOSED > EPILOGUE
            end CLOSED_CR > ENDED
            """);

    private static final Set<String> REMOVED_BY_COMPATIBLE = transitions("""
            CLOSED > FAILED
            CLOSED_CR > FAILED
            end CLOSED_CR > FAILED
            """);

    private static Set<String> transitions(String table) {
        return table.lines()
                .map(line -> line.split(" > "))
                .flatMap(row -> Stream.of(row[1].split(" ")).map(to -> row[0] + ">" + to))
                .collect(Collectors.toSet());
    }

    @Test
    void reachableStates_standardPreset_haveSameResultForAllChunks() {
        Exploration standard = new Exploration("ab", Preset.STANDARD, Limits.SMALL);
        standard.checkAll(WORDS, STRIDE, WALKS);
        assertEquals(new TreeSet<>(STANDARD), standard.transitions);
    }

    @Test
    void transitions_compatiblePreset_areTheDeclaredOnes() {
        TreeSet<String> declared = new TreeSet<>(STANDARD);
        declared.removeAll(REMOVED_BY_COMPATIBLE);
        declared.addAll(ADDED_BY_COMPATIBLE);
        assertEquals(declared, new Exploration("a", Preset.COMPATIBLE, Limits.FOR_FALSE_DELIMITERS).transitions);
    }

    /** The exploration does not find BODY_FULL, because no chunk of one byte leads to this state. */
    @Test
    void bodyFull_followsTheLastByteThatTheLimitAllows() throws MultipartException {
        MultipartOptions options = MultipartOptions.builder().maxPartBytes(2).build();
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            decoder.feed(
                    Unpooled.wrappedBuffer(Decoding.bytes("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nabc")));
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(State.BODY, decoder.state);
            assertEquals(Event.DATA, decoder.next());
            assertEquals(State.BODY_FULL, decoder.state);
            assertThrows(MultipartException.class, decoder::next);
            assertEquals(State.FAILED, decoder.state);
        }
    }

    @Test
    @Tag("full")
    @Timeout(value = 35, unit = TimeUnit.MINUTES) // on a busy machine
    void reachableStates_allPresetsBoundariesAndLimits_haveSameResultForAllChunks() {
        Stream<Supplier<Exploration>> all = Stream.of(Preset.STRICT, Preset.STANDARD, Preset.COMPATIBLE)
                .flatMap(preset -> Stream.concat(
                        boundaries().map(boundary -> () -> new Exploration(boundary, preset, Limits.SMALL)),
                        limits().map(limits -> () -> new Exploration("a", preset, limits))));
        all.toList().parallelStream().map(Supplier::get).forEach(exploration -> exploration.checkAll(2, 4, 1_000));
    }

    /** {@return all boundaries of up to three characters from a, b and dash; a comes before b, because the two are interchangeable} */
    private static Stream<String> boundaries() {
        List<String> characters = List.of("a", "b", "-");
        List<String> pairs = join(characters, characters);
        return Stream.of(characters, pairs, join(pairs, characters))
                .flatMap(List::stream)
                .filter(boundary -> !boundary.replace("-", "").startsWith("b"));
    }

    private static List<String> join(List<String> starts, List<String> ends) {
        return starts.stream()
                .flatMap(start -> ends.stream().map(end -> start + end))
                .toList();
    }

    private static Stream<Limits> limits() {
        Stream<Limits> inBody =
                IntStream.of(0, 1, 2, 3, 4, 5, 6, 9, 12, 18, 24).mapToObj(size -> new Limits(size, 1, 2, 1, 1, 4, 1));
        Stream<Limits> inParts = IntStream.rangeClosed(0, 6)
                .mapToObj(n -> new Limits(-1, n, Math.max(1, n / 2), n, 6 - n, Math.max(2, n), Math.max(1, n / 3)));
        return Stream.of(inBody, inParts, Stream.of(Limits.FOR_FALSE_DELIMITERS))
                .flatMap(stream -> stream);
    }

    /** One decoder, fed with a body in chunks, and a hash of its output. */
    private static final class Run {
        private final MultipartDecoder decoder;
        private final StateHash output = new StateHash();
        private @Nullable StringBuilder events;

        Run(Boundary boundary, MultipartOptions options) {
            decoder = MultipartDecoder.create(boundary, options);
        }

        Run feed(byte[] bytes, int from, int to) {
            if (from < to) {
                decoder.feed(Unpooled.wrappedBuffer(bytes, from, to - from));
                drain();
            }
            return this;
        }

        Run feedSingly(byte[] bytes) {
            for (int i = 0; i < bytes.length; i++) {
                feed(bytes, i, i + 1);
            }
            return this;
        }

        Run finish() {
            if (decoder.state != State.FAILED) {
                decoder.finish();
                drain();
            }
            return this;
        }

        private void drain() {
            try {
                for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                    if (event == Event.DATA) {
                        var data = decoder.data();
                        for (int i = data.readerIndex(); i < data.writerIndex(); i++) {
                            output.add(data.getByte(i));
                        }
                    } else {
                        output.add(event.ordinal()).add(decoder.offset()).add(decoder.partSize());
                        output.add(decoder.deviationCount());
                    }
                    if (events != null) {
                        events.append(event);
                    }
                    if (event == Event.END) {
                        return;
                    }
                }
            } catch (MultipartException e) {
                if (events != null) {
                    events.append(e.reason());
                }
            }
        }

        /** {@return the events that these bytes cause, and the abstract state after them} */
        String future(byte[] bytes, Limits limits) {
            events = new StringBuilder();
            feed(bytes, 0, bytes.length);
            return events + " " + abstractState(decoder, limits);
        }

        /** {@return a hash of the state and of all output; closes the decoder} */
        long close() {
            long hash = output.add(decoder).add(decoder.offset()).value();
            decoder.close();
            return hash;
        }
    }

    /** {@return everything that decides what the decoder does next, with counters up to their limits} */
    private static String abstractState(MultipartDecoder decoder, Limits limits) {
        State state = decoder.state;
        if (state == State.FAILED || state == State.ENDED) {
            return state.name();
        }
        StringBuilder text = new StringBuilder(state.name());
        boolean ended = state == State.CLOSED || state == State.CLOSED_CR || state == State.EPILOGUE;
        if (limits.body >= 0) {
            text.append(" at ").append(decoder.offset);
        }
        if (!ended && decoder.partIndex < 0) {
            int decided = limits.preamble + 8;
            text.append(" preamble ").append(decoder.preambleAt >= 0);
            text.append(' ').append(Math.min(decoder.offset, decided));
        }
        if (!ended) {
            text.append(" part ").append(decoder.partIndex).append(decoder.partOpen);
        }
        if (decoder.partOpen && limits.part >= 0) {
            text.append(" size ").append(decoder.partSize);
        }
        switch (state) {
            case PREAMBLE, BODY -> {
                int matched = decoder.search.matchEnd();
                text.append(" match ").append(matched == 0 ? 0 : decoder.search.matchStart());
                text.append('-').append(matched).append(decoder.search.isWatching());
                text.append(decoder.search.lookalike());
            }
            case DELIMITER, PADDING, DELIMITER_CR, CLOSE_DASH -> {
                text.append(" match ").append(decoder.search.matchStart()).append(decoder.search.isWatching());
                text.append(decoder.delimiterAfterBareLf).append(" padding ").append(decoder.padding);
            }
            case HEADERS -> text.append(HeaderState.text(decoder.section));
            case CLOSED -> text.append(" padding ").append(decoder.padding);
            case EPILOGUE ->
                text.append(" epilogue ").append(decoder.epilogueAt < 0 ? 0 : decoder.offset - decoder.epilogueAt);
            default -> {
                // nothing else
            }
        }
        return text.toString();
    }

    private static final class Exploration {
        private static final List<byte[]> ALL_BYTES =
                IntStream.range(0, 256).mapToObj(b -> new byte[] {(byte) b}).toList();
        private static final Pattern PADDING = Pattern.compile("padding (\\d+)");

        private final Boundary boundary;
        private final MultipartOptions options;
        private final Limits limits;
        private final Map<String, byte[]> witnesses = new LinkedHashMap<>();
        private final Set<String> transitions = new TreeSet<>();
        private final ArrayDeque<byte[]> shallow = new ArrayDeque<>();
        private final ArrayDeque<byte[]> deep = new ArrayDeque<>();
        /** For each byte value, its effects in the states explored with all byte values. */
        private final List<StringBuilder> futures =
                ALL_BYTES.stream().map(b -> new StringBuilder()).toList();

        private List<byte[]> alphabet = List.of();
        private long steps;
        private List<byte[]> words = List.of();
        private List<byte[]> delimiters = List.of();
        private long chunked;
        private long bodies;

        Exploration(String boundary, Preset preset, Limits limits) {
            this.options = limits.options(preset);
            this.limits = limits;
            try {
                this.boundary = Boundary.anyMultipart("multipart/mixed; boundary=" + boundary, preset);
            } catch (MultipartException e) {
                throw new IllegalArgumentException(e);
            }
            findStates();
        }

        @Override
        public String toString() {
            return "exploration " + boundary.value() + " " + options.preset() + " " + limits + ": " + witnesses.size()
                    + " abstract states, "
                    + alphabet.size() + " classes of bytes, " + steps + " steps, " + chunked + " words, " + bodies
                    + " bodies in equal states";
        }

        /**
         * Checks every state.
         *
         * @param length the length of the longest words
         * @param step the step between the places where delimiters are split
         * @param walks the number of random bodies
         */
        void checkAll(int length, int step, int walks) {
            words = allWords(length);
            delimiters = nearDelimiters();
            checkWalks(walks);
            witnesses.forEach((state, witness) -> {
                checkWitness(witness, isDeep(state) ? 16 : 1);
                if (!isDeep(state)) {
                    checkWords(witness, step);
                }
            });
            System.out.println(this);
        }

        /** {@return whether the state is one of many that differ only in the number of blanks after a delimiter} */
        private static boolean isDeep(String state) {
            Matcher padding = PADDING.matcher(state);
            return padding.find() && Integer.parseInt(padding.group(1)) > 3 && Integer.parseInt(padding.group(1)) < 254;
        }

        private Run start() {
            return new Run(boundary, options);
        }

        /**
         * Finds all states. States that are not deep are explored first, with all 256 byte values. This determines the classes of
         * byte values. Deep states are explored with one byte of each class.
         */
        private void findStates() {
            add(stateAfter(new byte[0]), new byte[0]);
            while (!shallow.isEmpty() || !deep.isEmpty()) {
                if (shallow.isEmpty()) {
                    if (alphabet.isEmpty()) {
                        chooseAlphabet();
                    }
                    explore(deep.remove(), alphabet);
                } else {
                    explore(shallow.remove(), ALL_BYTES);
                }
            }
            int known = alphabet.size();
            chooseAlphabet();
            assertTrue(
                    known == 0 || known == alphabet.size(),
                    "the exploration of deep states has split a class of bytes");
        }

        private void explore(byte[] witness, List<byte[]> bytes) {
            Map<String, Integer> ids = new HashMap<>();
            for (byte[] next : bytes) {
                Run run = start().feed(witness, 0, witness.length);
                State before = run.decoder.state;
                String future = run.future(next, limits);
                if (bytes == ALL_BYTES) {
                    futures.get(next[0] & 0xFF)
                            .append(ids.computeIfAbsent(future, f -> ids.size()))
                            .append(' ');
                }
                transitions.add(before + ">" + run.decoder.state);
                if (run.decoder.state != State.FAILED) {
                    add(abstractState(run.decoder, limits), concat(witness, next));
                }
                steps++;
                run.decoder.close();
            }
            Run end = start().feed(witness, 0, witness.length);
            State before = end.decoder.state;
            transitions.add("end " + before + ">" + end.finish().decoder.state);
            end.decoder.close();
        }

        private void add(String state, byte[] body) {
            if (witnesses.putIfAbsent(state, body) == null) {
                (isDeep(state) ? deep : shallow).add(body);
            }
        }

        /** Chooses one byte of each class. The bytes of a class have had the same effect in all states so far. */
        private void chooseAlphabet() {
            Map<String, byte[]> classes = new LinkedHashMap<>();
            for (byte[] b : ALL_BYTES) {
                classes.putIfAbsent(futures.get(b[0] & 0xFF).toString(), b);
            }
            alphabet = List.copyOf(classes.values());
        }

        private String stateAfter(byte[] body) {
            Run run = start().feed(body, 0, body.length);
            String state = abstractState(run.decoder, limits);
            run.decoder.close();
            return state;
        }

        private void checkWitness(byte[] witness, int step) {
            for (boolean finish : new boolean[] {false, true}) {
                long singly = end(start().feedSingly(witness), finish);
                for (int cut = 0; cut < witness.length; cut += step) {
                    Run run = start().feed(witness, 0, cut).feed(witness, cut, witness.length);
                    requireSame(singly, end(run, finish), witness, new byte[0], cut);
                }
            }
        }

        private static long end(Run run, boolean finish) {
            return (finish ? run.finish() : run).close();
        }

        /** Compares the future of random bodies with the future of the witness of their state. */
        private void checkWalks(int count) {
            SplittableRandom random = new SplittableRandom(witnesses.size());
            List<byte[]> starts = witnesses.keySet().stream()
                    .filter(state -> !isDeep(state))
                    .map(witnesses::get)
                    .toList();
            for (int i = 0; i < count; i++) {
                byte[] body = starts.get(random.nextInt(starts.size()));
                for (int tries = 0; tries < 12; tries++) {
                    List<byte[]> from = random.nextInt(4) == 0 ? delimiters : alphabet;
                    byte[] longer = concat(body, from.get(random.nextInt(from.size())));
                    body = stateAfter(longer).equals(State.FAILED.name()) ? body : longer;
                }
                checkWalk(body);
            }
        }

        private void checkWalk(byte[] body) {
            String state = stateAfter(body);
            byte[] witness = witnesses.get(state);
            assertNotNull(witness, () -> this + ": " + show(body) + " leads to another state, " + state);
            for (byte[] next : alphabet) {
                assertEquals(
                        future(witness, next),
                        future(body, next),
                        () -> this + ": " + show(witness) + " and " + show(body) + ", then " + show(next));
            }
            bodies++;
        }

        private String future(byte[] body, byte[] next) {
            Run run = start().feed(body, 0, body.length);
            String future = run.future(next, limits);
            run.decoder.close();
            return future;
        }

        private void checkWords(byte[] witness, int step) {
            for (byte[] word : words) {
                checkWord(witness, word, 0, word.length);
            }
            for (int i = 0; i < delimiters.size(); i++) {
                checkWord(witness, delimiters.get(i), i % step, step);
            }
        }

        /** {@return all words of two to {@code length} bytes, with one byte of each class} */
        private List<byte[]> allWords(int length) {
            List<byte[]> all = new ArrayList<>(alphabet);
            int from = 0;
            for (int n = 2; n <= length; n++) {
                int to = all.size();
                for (byte[] word : all.subList(from, to).toArray(byte[][]::new)) {
                    for (byte[] b : alphabet) {
                        all.add(concat(word, b));
                    }
                }
                from = to;
            }
            return all.subList(alphabet.size(), all.size());
        }

        /** {@return delimiters and blank lines, with one byte of each class before, after, and in place of each byte} */
        private List<byte[]> nearDelimiters() {
            List<byte[]> all = new ArrayList<>();
            for (String line : List.of(
                    "\r\n--#\r\n", "\r\n--#--\r\n", "\n--#\n", "\r--#\r\n", "\r\n--# \t\r\n", "--#\r\n\r\n", "--#--")) {
                byte[] bytes = line.replace("#", boundary.value()).getBytes(StandardCharsets.ISO_8859_1);
                all.add(bytes);
                for (byte[] b : alphabet) {
                    all.add(concat(b, bytes));
                    all.add(concat(bytes, b));
                    for (int i = 0; i < bytes.length; i++) {
                        byte[] changed = bytes.clone();
                        changed[i] = b[0];
                        all.add(changed);
                    }
                }
            }
            return all;
        }

        private static byte[] concat(byte[] a, byte[] b) {
            byte[] both = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, both, a.length, b.length);
            return both;
        }

        private void checkWord(byte[] witness, byte[] word, int firstCut, int step) {
            long singly =
                    start().feed(witness, 0, witness.length).feedSingly(word).close();
            for (int cut = firstCut; cut < word.length; cut += step) {
                long whole = start().feed(witness, 0, witness.length)
                        .feed(word, 0, cut)
                        .feed(word, cut, word.length)
                        .close();
                chunked++;
                requireSame(singly, whole, witness, word, cut);
            }
        }

        private void requireSame(long expected, long actual, byte[] witness, byte[] word, int cut) {
            if (expected != actual) {
                throw new AssertionError(this + ": after " + show(witness) + ", the bytes " + show(word) + " cut at "
                        + cut + " differ from single bytes");
            }
        }

        private static String show(byte[] bytes) {
            StringBuilder text = new StringBuilder("\"");
            for (byte b : bytes) {
                text.append(b > ' ' && b < 127 ? String.valueOf((char) b) : String.format("\\x%02x", b & 0xFF));
            }
            return text.append('"').toString();
        }
    }
}
