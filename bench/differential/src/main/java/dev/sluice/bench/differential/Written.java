package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.Boundary;
import dev.sluice.FormRelay;
import dev.sluice.MultipartEncoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.HostileText;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The comparison of all readers on forms that Sluice has written: forms that it has encoded with hostile names, and forms that it has
 * relayed. For each reader, it counts the forms whose parts the reader returns with the same contents and with the names that the {@link
 * Names} of the reader predict. Not thread-safe.
 */
final class Written implements AutoCloseable {
    private static final int BATCH = 200;

    /** The number of bodies to relay at a time. {@link #compare} encodes a tenth as many forms, which fill one batch. */
    static final int STEP = 10 * BATCH;

    private static final int SHOWN = 5;

    private static final Pattern OTHER_CHARSET = Pattern.compile("(?i)charset=(?!\"?utf-8\\b)");

    /** How one reader reads the forms. */
    static final class Row {
        public Contender reader;
        public String version = "";
        public long same;
        public long differs;
        public long rejects;
        /** The string that the reader returns for each string in a written name. */
        public Map<String, String> names = new TreeMap<>();
        /** The first few forms that the reader reads differently. A rejected form is added only if the list is empty. */
        public List<String> examples = new ArrayList<>();
    }

    /**
     * The results of a comparison.
     *
     * @param relayed the number of forms that were given to the relay; STANDARD accepts all of them
     * @param refusals the number of forms that the relay rejects, by origin and reason
     */
    record Report(
            @JsonUnwrapped Provenance provenance,
            long seed,
            long encoded,
            long relayed,
            Map<String, Long> refusals,
            Collection<Row> readers) {}

    private final long seed;
    private final Samples samples;
    private final Map<Contender, ReaderProcess> processes;
    private final Map<Contender, Row> rows = new EnumMap<>(Contender.class);
    private final Map<Contender, Names> names = new EnumMap<>(Contender.class);
    private final Map<String, Long> refusals = new TreeMap<>();
    private final List<Sample> batch = new ArrayList<>();
    private long encoded;
    private long relayed;

    /** @param processes the readers in other languages; empty to compare only with Java parsers */
    Written(Map<Contender, ReaderProcess> processes, long seed) {
        this.processes = processes;
        this.seed = seed;
        this.samples = new Samples(seed);
        for (Contender contender : Contender.values()) {
            if (processes.containsKey(contender) || Contender.javaParsers().contains(contender)) {
                Row row = new Row();
                row.reader = contender;
                rows.put(contender, row);
                names.put(contender, Names.of(contender, body -> read(contender, body)));
                row.names = contender.readsNames() ? names.get(contender).table() : Map.of();
            }
        }
    }

    private Reading read(Contender contender, Body body) {
        ReaderProcess process = processes.get(contender);
        return process == null ? contender.read(body) : process.read(body);
    }

    /** Relays a range of bodies, and encodes a tenth as many forms. The readers get every tenth relayed form. */
    void compare(long first, long count, LongConsumer progress) {
        encode(first / 10, count / 10);
        relay(first, count, 10);
        progress.accept(count);
    }

    /** Compares a range of encoded forms. */
    void encode(long first, long count) {
        for (long index = first; index < first + count; index++) {
            add(encoded(new SplittableRandom(seed + index)));
            encoded++;
        }
        compare();
    }

    /**
     * Relays {@code count} bodies, except those that STANDARD rejects. STRICT must accept the results and find the same contents.
     *
     * @param every the readers get one in {@code every} relayed forms
     */
    void relay(long first, long count, int every) {
        for (long index = first; index < first + count; index++) {
            Sample sample = samples.get(index);
            Reading standard = Sluice.STANDARD.read(sample);
            boolean form = Sluice.STANDARD
                    .boundary(sample.contentType())
                    .filter(Boundary::isFormData)
                    .isPresent();
            if (form && standard.accepts()) {
                relayed++;
                relay(sample, standard).filter(done -> relayed % every == 0).ifPresent(this::add);
            }
        }
        compare();
    }

    private Optional<Sample> relay(Sample sample, Reading standard) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        MultipartOptions options = MultipartOptions.defaults();
        try (FormRelay relay =
                FormRelay.create(sample.contentType(), options, NameEscaping.REPLACE, FormRelay.Part::of)) {
            relay.feed(Unpooled.wrappedBuffer(sample.bytes()));
            drain(relay, out);
            relay.finish();
            drain(relay, out);
            Sample result = new Sample(sample.origin(), relay.contentType(), out.toByteArray());
            Reading strict = Sluice.STRICT.read(result);
            boolean decoded = new String(sample.bytes(), StandardCharsets.ISO_8859_1)
                    .toLowerCase(Locale.ROOT)
                    .contains("content-transfer-encoding");
            if (!strict.accepts() || !contents(strict, decoded).equals(contents(standard, decoded))) {
                throw new IllegalStateException("STRICT reads the relayed form as " + strict.describe()
                        + ", the original is " + sample.escaped());
            }
            return Optional.of(result);
        } catch (MultipartException e) {
            refusals.merge(sample.origin().title + ": " + e.reason(), 1L, Long::sum);
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void drain(FormRelay relay, ByteArrayOutputStream out) throws IOException {
        for (ByteBuf bytes; (bytes = relay.next()) != null; ) {
            bytes.readBytes(out, bytes.readableBytes()).release();
        }
    }

    /** Returns the kind of each part, and its bytes if the relay has not {@code decoded} them. STANDARD does not decode base64. */
    private static List<String> contents(Reading reading, boolean decoded) {
        return reading.parts().stream()
                .map(part -> (part.filename() == null ? "field " : "file ")
                        + (decoded ? "" : new String(part.content(), StandardCharsets.ISO_8859_1)))
                .toList();
    }

    private Sample encoded(SplittableRandom random) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        MultipartEncoder encoder = MultipartEncoder.create(
                Boundary.random("multipart/form-data"), NameEscaping.REPLACE, ByteBufAllocator.DEFAULT);
        try {
            for (int part = random.nextInt(5); part >= 0; part--) {
                if (random.nextInt(10) == 0) {
                    write(encoder.emptyFileInput(HostileText.name(random)), out);
                    continue;
                }
                String filename = random.nextBoolean() ? HostileText.name(random) : null;
                String type = HostileText.contentType(random, filename != null);
                write(encoder.beginPart(HostileText.name(random), filename, type), out);
                byte[] content = HostileText.content(random);
                write(encoder.write(Unpooled.wrappedBuffer(content)), out);
            }
            write(encoder.finish(), out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Sample(Sample.Origin.CRAFTED, encoder.contentType(), out.toByteArray());
    }

    private static void write(ByteBuf bytes, ByteArrayOutputStream out) throws IOException {
        bytes.readBytes(out, bytes.readableBytes()).release();
    }

    private void add(Sample sample) {
        batch.add(sample);
        if (batch.size() == BATCH) {
            compare();
        }
    }

    private void compare() {
        try {
            for (ReaderProcess process : processes.values()) {
                for (Sample sample : batch) {
                    process.add(sample.whole(""));
                }
                process.send();
            }
            List<Reading> ours = batch.stream().map(Sluice.STRICT::read).toList();
            for (Row row : rows.values()) {
                ReaderProcess process = processes.get(row.reader);
                List<Reading> theirs = process == null ? null : process.readings();
                row.version = process == null ? "" : process.version();
                for (int i = 0; i < batch.size(); i++) {
                    Sample sample = batch.get(i);
                    String boundary = Sluice.STRICT
                            .boundary(sample.contentType())
                            .orElseThrow()
                            .value();
                    count(
                            row,
                            sample,
                            ours.get(i),
                            theirs == null ? row.reader.read(sample.whole(boundary)) : theirs.get(i));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        batch.clear();
    }

    private void count(Row row, Sample sample, Reading ours, Reading theirs) {
        if (!ours.accepts()) {
            throw new IllegalStateException("STRICT rejects " + sample.escaped());
        }
        Reading expected = names.get(row.reader).apply(ours);
        if (row.reader == Contender.SPRING) { // returns fields as text, decoded with their own charset
            UnaryOperator<Reading> mapping = hasOtherCharset(sample) ? Mapping::withoutFields : Mapping::withText;
            expected = mapping.apply(expected);
            theirs = theirs.accepts() ? mapping.apply(theirs) : theirs;
        } else if (row.reader == Contender.STARLETTE) {
            expected = Mapping.withLatin1(expected);
        }
        String difference = !theirs.accepts()
                ? "rejects: " + theirs.refusal()
                : row.reader
                        .difference(expected, theirs)
                        .map(each -> each.title)
                        .orElse("");
        row.same += difference.isEmpty() ? 1 : 0;
        row.rejects += theirs.accepts() ? 0 : 1;
        row.differs += !difference.isEmpty() && theirs.accepts() ? 1 : 0;
        boolean shows = theirs.accepts() ? row.examples.size() < SHOWN : row.examples.isEmpty();
        if (!difference.isEmpty() && shows) {
            row.examples.add(difference + ": " + sample.escaped() + " expected " + expected.describe() + " but was "
                    + theirs.describe());
        }
    }

    /** Returns whether a body contains a charset other than UTF-8, in quotes or not. */
    static boolean hasOtherCharset(Sample sample) {
        return OTHER_CHARSET
                .matcher(new String(sample.bytes(), StandardCharsets.ISO_8859_1))
                .find();
    }

    Report report(Provenance provenance) {
        return new Report(provenance, seed, encoded, relayed, refusals, rows.values());
    }

    /** Adds the counts of another comparison with the same readers. */
    void add(Written other) {
        encoded += other.encoded;
        relayed += other.relayed;
        other.refusals.forEach((reason, count) -> refusals.merge(reason, count, Long::sum));
        other.rows.forEach((contender, row) -> {
            Row all = rows.get(contender);
            all.same += row.same;
            all.differs += row.differs;
            all.rejects += row.rejects;
            all.examples.addAll(row.examples);
        });
    }

    @Override
    public void close() {
        processes.values().forEach(ReaderProcess::close);
    }
}
