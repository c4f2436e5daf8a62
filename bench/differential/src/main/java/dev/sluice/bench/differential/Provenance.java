package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Environment;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;

/** Where and when a comparison was made, with which versions, and how long it took. */
record Provenance(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        long seconds) {
    /** Of a comparison that ends now. */
    static Provenance of(String command, Instant start) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        return new Provenance(
                "java -jar sluice-differential.jar " + command,
                now.toString(),
                Environment.machine(),
                Environment.jvm(),
                Environment.versions(),
                Duration.between(start, now).toSeconds());
    }

    @Override
    public String toString() {
        String where = machine.get("cpu") + ", " + machine.get("cores") + " cores";
        String java = jvm.get("name") + " " + jvm.get("version");
        return String.format(Locale.ROOT, "`%s`; %s; %s; %s. %,d s.\n\n", command, date, where, java, seconds);
    }
}
