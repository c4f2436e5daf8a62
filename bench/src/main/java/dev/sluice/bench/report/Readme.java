package dev.sluice.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The part of the README between the two markers, all of it made from recorded runs. */
public final class Readme {

    private static final String BEGIN = "<!-- generated from results/*.json: begin -->";
    private static final String END = "<!-- generated from results/*.json: end -->";

    private Readme() {}

    /**
     * Replaces what stands between the markers.
     *
     * @param runs recorded runs by the name of their file
     * @param drawn names of the charts of each
     */
    public static void update(
            Path readme, Map<String, Run> runs, Map<String, ? extends Iterable<String>> drawn, Path charts)
            throws IOException {
        String text = Files.readString(readme);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException("the README has no place marked for the tables");
        }
        Path folder = readme.toAbsolutePath().getParent();
        String chartsFromReadme = folder == null
                ? charts.toString()
                : folder.relativize(charts.toAbsolutePath()).toString();
        StringBuilder generated = new StringBuilder(BEGIN).append('\n');
        runs.forEach((name, run) -> {
            generated.append("\n### ").append(name).append("\n\n");
            generated.append(run.provenance()).append("\n");
            for (String chart : drawn.containsKey(name) ? drawn.get(name) : List.<String>of()) {
                generated.append("\n![%s](%s/%s.svg)\n".formatted(chart, chartsFromReadme, chart));
            }
            generated.append(Tables.of(run));
        });
        Files.writeString(readme, text.substring(0, begin) + generated + '\n' + text.substring(end));
    }
}
