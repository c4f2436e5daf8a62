package dev.sluice.samples.upload.soak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;

/** The figures of the last run of each kind, in a file of JSON, and the page that is made of it. */
final class Records {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Path json;
    private final Path page;

    /**
     * @param json is read, where it is there, and written
     * @param page is written
     */
    Records(Path json, Path page) {
        this.json = json;
        this.page = page;
    }

    /** {@return an empty record of what runs here today} */
    static ObjectNode today() {
        return JSON.createObjectNode()
                .put("date", LocalDate.now(ZoneOffset.UTC).toString())
                .put("java", Runtime.version().toString())
                .put("processors", Runtime.getRuntime().availableProcessors());
    }

    static JsonNode tree(Object value) {
        return JSON.valueToTree(value);
    }

    /** Replaces one record, and writes the page anew. */
    void put(String kind, ObjectNode figures) throws IOException {
        ObjectNode all = Files.exists(json) ? (ObjectNode) JSON.readTree(json.toFile()) : JSON.createObjectNode();
        all.set(kind, figures);
        Files.writeString(json, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
        Files.writeString(page, new Page().of(all));
    }

    /** {@return the page of the figures in {@code json}} */
    static String page(Path json) throws IOException {
        return new Page().of(JSON.readTree(json.toFile()));
    }

    /** Writes Markdown. */
    private static final class Page {
        private final StringBuilder text = new StringBuilder();

        String of(JsonNode all) {
            line("# Soak and crash");
            line("");
            line(
                    "Written by `.ci/soak` from `soak.json`: the last run of each kind. Each fails where a bound is broken.");
            if (all.has("uploads")) {
                uploads(all.get("uploads"));
            }
            if (all.has("kills")) {
                kills(all.get("kills"));
            }
            if (all.has("slowClients")) {
                slowClients(all.get("slowClients"));
            }
            if (all.has("diskFull")) {
                diskFull(all.get("diskFull"));
            }
            return text.toString();
        }

        private void line(String format, Object... values) {
            text.append(String.format(Locale.ROOT, format, values)).append('\n');
        }

        private void section(String title, String command, JsonNode record) {
            line("");
            line("## %s", title);
            line("");
            line("`%s`", command);
            line("");
            line(
                    "%s, JDK %s, %d processors, %.0f s.",
                    record.get("date").asText(),
                    record.get("java").asText(),
                    record.get("processors").asInt(),
                    record.get("seconds").asDouble());
        }

        private void uploads(JsonNode record) {
            JsonNode result = record.get("result");
            long count = result.get("uploads").asLong();
            section("Uploads in one process", ".ci/soak --uploads " + count, record);
            line(
                    "%,d uploads by %d clients over %,d connections, %.0f a second; heap %d MiB, direct memory %d MiB"
                            + " at most. %d wrong answers.",
                    count,
                    result.get("connections").asInt(),
                    result.get("opened").asLong(),
                    count / result.get("seconds").asDouble(),
                    HostProcess.HEAP_MEBIBYTES,
                    HostProcess.DIRECT_MEBIBYTES,
                    result.get("faults").size());
            line("");
            trends(result.get("trends"));
            line("");
            line("| upload | count | answer |");
            line("|---|--:|---|");
            for (Kind kind : Kind.values()) {
                line(
                        "| %s | %,d | %s |",
                        kind.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        result.get("kinds").path(kind.name()).asLong(),
                        kind.leaves() ? "not waited for" : kind.status());
            }
        }

        private void trends(JsonNode trends) {
            boolean scatter = trends.path(0).has("least");
            if (scatter) {
                line(
                        "Looked at after each round, when nothing is under way, from the fourth round on; scatter is the least"
                                + " and the most. More than allowed may neither the line rise, nor the median of the last quarter"
                                + " of the points be above that of the first. A step in the last eighth shows in the scatter only.");
                line("");
                line(
                        "| figure | before | after | scatter | medians | slope per 10^6 uploads | rise of the line | allowed |");
                line("|---|--:|--:|--:|--:|--:|--:|--:|");
            } else {
                line("| figure | before | after | slope per 10^6 uploads | rise of the line | allowed |");
                line("|---|--:|--:|--:|--:|--:|");
            }
            for (JsonNode trend : trends) {
                String between = scatter
                        ? String.format(
                                Locale.ROOT,
                                "%,.0f to %,.0f | %,.0f, %,.0f | ",
                                trend.get("least").asDouble(),
                                trend.get("most").asDouble(),
                                trend.get("early").asDouble(),
                                trend.get("late").asDouble())
                        : "";
                line(
                        "| %s | %,.0f | %,.0f | %s%,.2f | %,.2f | %,.0f |",
                        trend.get("what").asText(),
                        trend.get("before").asDouble(),
                        trend.get("after").asDouble(),
                        between,
                        trend.get("perMillion").asDouble(),
                        trend.get("rise").asDouble(),
                        trend.get("allowed").asDouble());
            }
        }

        private void kills(JsonNode record) {
            int count = record.get("count").asInt();
            section("Killed processes", ".ci/soak --kills " + count, record);
            line(
                    "%,d processes killed (SIGKILL) at random steps of uploads, each followed by a start in the same"
                            + " directory: no temporary file survived that start, no file was published by halves.",
                    count);
        }

        private void slowClients(JsonNode record) {
            int count = record.get("count").asInt();
            section("Slow clients", ".ci/soak --clients " + count, record);
            line(
                    "%,d clients that send a byte a second, at a servlet container with a heap of 256 MiB. %s",
                    count, record.get("says").asText());
        }

        private void diskFull(JsonNode record) {
            section("Disk full under load", ".ci/soak --disk-full", record);
            for (JsonNode result : record.get("results")) {
                line(
                        "- %s: filled and emptied %d times; answers %s; %d of the uploads without a file were refused"
                                + " meanwhile, %d of those made after there was room again; descriptors %d before, %d"
                                + " after; no part file left.",
                        result.get("keptFreeBytes").asLong() == 0
                                ? "the disk itself refuses"
                                : "the server leaves some free",
                        result.get("cycles").asInt(),
                        result.get("statuses"),
                        result.get("refusedFields").asLong(),
                        result.get("refusedAfter").asLong(),
                        result.get("before").get("descriptors").asLong(),
                        result.get("after").get("descriptors").asLong());
            }
        }
    }
}
