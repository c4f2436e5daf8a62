package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.Preset;
import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Soup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The seeds of a target: the corpus and the random bodies ({@link Soup}) of the test kit, or random bytes for ROUND_TRIP. */
final class Seeds {
    private static final int SOUPS = 400;
    private static final int RANDOM = 200;

    private final Target target;
    private final Map<String, byte[]> seeds = new LinkedHashMap<>();

    private Seeds(Target target) {
        this.target = target;
        switch (target) {
            case ROUND_TRIP -> random();
            case HEADER -> each(this::headers);
            case EVERY -> some();
            case PARTITION, REFERENCE, INVARIANT, FORM, FILTER -> Renamed.ALL.forEach(this::body);
        }
    }

    /** {@return the seeds of a target, by name} */
    static Map<String, byte[]> of(Target target) {
        return new Seeds(target).seeds;
    }

    static void write(Target target, Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Map.Entry<String, byte[]> seed : of(target).entrySet()) {
            Files.write(directory.resolve(seed.getKey()), seed.getValue());
        }
    }

    private void add(String name, byte[] bytes) {
        if (bytes.length <= target.largest()) {
            seeds.put(name.replace('/', '_'), bytes);
        }
    }

    /** Adds a few seeds of each target, so that a short run has time to mutate them. */
    private void some() {
        for (int i = 0; i < Target.single().size(); i++) {
            int count = 0;
            for (Map.Entry<String, byte[]> seed : of(Target.single().get(i)).entrySet()) {
                if (count++ % 16 == 0) {
                    byte[] bytes = seed.getValue();
                    add(
                            i + "-" + seed.getKey(),
                            new Bytes(bytes.length + 1).add((byte) i).add(bytes).toByteArray());
                }
            }
        }
    }

    /** An action that adds the seeds made from a body and its Content-Type. */
    private interface Use {
        void of(String name, String contentType, byte[] body);
    }

    private static void each(Use use) {
        for (Corpus.Case source : Corpus.cases()) {
            use.of(source.id(), source.contentType(), source.body());
        }
        for (int i = 0; i < SOUPS; i++) {
            Soup.Body soup = Soup.body(i);
            use.of("soup-" + i, soup.contentType(), soup.bytes());
        }
    }

    private void random() {
        SplittableRandom random = new SplittableRandom(20_261_120L);
        for (int i = 0; i < RANDOM; i++) {
            byte[] bytes = new byte[16 + random.nextInt(240)];
            random.nextBytes(bytes);
            add("random-" + i, bytes);
        }
    }

    /**
     * A body with the boundary {@code x}.
     *
     * @param tokens the {@link Tokens} that expand to the body, or null if there are none or they are not shorter
     */
    private record Renamed(String name, byte[] body, byte @Nullable [] tokens) {
        /** All bodies. They are created once, because finding the tokens takes long. */
        static final List<Renamed> ALL = all();

        private static List<Renamed> all() {
            List<Renamed> all = new ArrayList<>();
            each((name, contentType, body) -> {
                String boundary;
                try {
                    boundary = Boundary.anyMultipart(contentType, Preset.COMPATIBLE)
                            .value();
                } catch (MultipartException e) {
                    return; // the Content-Type is rejected, so no body is read
                }
                byte[] renamed = replaced(body, Bytes.latin1("--" + boundary), Bytes.latin1("--x"));
                byte[] tokens = Setup.tokens(0).shorten(renamed);
                all.add(new Renamed(name, renamed, tokens != null && tokens.length < renamed.length ? tokens : null));
            });
            return all;
        }
    }

    private void body(Renamed source) {
        int preset = source.name.hashCode() & 3;
        SplittableRandom choice = new SplittableRandom(source.name.hashCode());
        add(source.name, preset | choice.nextInt(2) * Setup.DIRECT, choice, source.body);
        if (source.tokens != null) {
            int type = choice.nextInt(Setup.CONTENT_TYPES.length);
            add(source.name + ".tokens", preset | Setup.TOKENS | type << 4, choice, source.tokens);
        }
    }

    private void add(String name, int flags, SplittableRandom choice, byte[] body) {
        byte[] seed = withHead(flags, choice, body);
        add(name, seed);
        if (target == Target.FILTER) {
            add(name + ".calm", FilterTarget.calmed(seed));
        }
    }

    private byte[] withHead(int flags, SplittableRandom choice, byte[] body) {
        int before = target == Target.FORM ? FormTarget.HEAD : target == Target.FILTER ? FilterTarget.HEAD : 0;
        Bytes seed = new Bytes(before + Setup.HEAD + body.length);
        for (int i = 0; i < before; i++) {
            seed.add((byte) choice.nextInt(256));
        }
        seed.add((byte) flags).add((byte) choice.nextInt(16)).add((byte) choice.nextInt(256));
        return seed.add((byte) choice.nextInt(256))
                .add((byte) choice.nextInt(256))
                .add(body)
                .toByteArray();
    }

    private static byte[] replaced(byte[] body, byte[] from, byte[] to) {
        Bytes out = new Bytes(body.length);
        int at = 0;
        for (int found; (found = Bytes.indexOf(body, from, at)) >= 0; at = found + from.length) {
            out.add(Arrays.copyOfRange(body, at, found)).add(to);
        }
        return out.add(Arrays.copyOfRange(body, at, body.length)).toByteArray();
    }

    private void headers(String name, String contentType, byte[] body) {
        int preset = name.hashCode() & 3;
        add(name, value(preset, contentType.getBytes(StandardCharsets.ISO_8859_1)));
        int count = 0;
        for (Outcome.Part part :
                ReferenceParser.parse(contentType, body, "COMPATIBLE").parts()) {
            for (Outcome.Header header : part.headers()) {
                if (header.name().equalsIgnoreCase("Content-Disposition") && count < 4) {
                    add(name + "." + count++, value(preset | 8, header.rawValue()));
                }
            }
        }
    }

    private static byte[] value(int flags, byte[] value) {
        return new Bytes(value.length + 1).add((byte) flags).add(value).toByteArray();
    }
}
