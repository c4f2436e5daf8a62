package dev.sluice.bench.differential;

import java.util.List;
import java.util.Map;

/**
 * What a comparison of two-chunk splits found.
 *
 * @param command as typed
 * @param date of the end, ISO 8601
 * @param machine processor, cores, memory, kernel
 * @param jvm name and version of the virtual machine
 * @param versions of every parser compared
 * @param seconds that it took
 * @param bodies of the corpus that were split
 * @param bytes of these
 * @param skipped bodies of the corpus that were not: no boundary, or too large for a quick run
 * @param readers what each reader made of them
 */
record SplitsReport(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        long seconds,
        long bodies,
        long bytes,
        long skipped,
        List<Row> readers) {

    /**
     * A reader.
     *
     * @param reader its title
     * @param splits how many
     * @param wrong whose outcome is another than the whole body's
     * @param wrongBodies in which these are
     * @param kinds of the wrong ones
     */
    record Row(String reader, long splits, long wrong, long wrongBodies, List<Kind> kinds) {}

    /**
     * One way to be wrong.
     *
     * @param title of it
     * @param splits how many
     * @param body of the corpus that shows it, split before the byte {@code cut}, whose last bytes before and first bytes
     *     after are {@code around}
     */
    record Kind(String title, long splits, String body, int cut, String around) {}
}
