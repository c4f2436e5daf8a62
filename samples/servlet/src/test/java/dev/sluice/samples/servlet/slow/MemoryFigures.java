package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.TestForm;
import dev.sluice.samples.upload.soak.ServerProcess;
import dev.sluice.samples.upload.soak.Trend;
import dev.sluice.samples.upload.soak.Vitals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A measurement of the resources used by uploads in progress; it writes {@code parser/docs/memory.md}. The name does
 * not end in {@code Test}, so the build does not run it: the figures depend on the machine, and it takes minutes.
 */
class MemoryFigures {
    private static final String COMMAND =
            "mvn -pl samples/servlet -am test -Dtest=MemoryFigures -Dsurefire.failIfNoSpecifiedTests=false";

    /**
     * The heap is touched at the start, so that growth of the process is outside of the heap. Softly reachable objects
     * are not counted.
     */
    private static final String[] MACHINE = {
        "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch", "-XX:SoftRefLRUPolicyMSPerMB=0"
    };

    private static final int[] IDLE = {0, 500, 1_000, 2_000};
    private static final int[] IN_FLIGHT = {0, 25, 50, 100};
    private static final int MEBIBYTE = 1 << 20;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path directory;

    /** The resources in use by a server with a number of uploads in progress; sizes are in bytes. */
    private record Point(int uploads, long heap, long direct, long resident, long threads, long budget) {}

    @Test
    void writePage() throws Exception {
        byte[] idleStart = new TestForm()
                .field("a", "1")
                .file("f", "slow.bin", new byte[10])
                .open();
        byte[] mebibyte = new byte[MEBIBYTE];
        byte[] flightStart = new TestForm().file("f", "large.bin", mebibyte).open();
        Map<UploadHost.Kind, List<Point>> idle = new EnumMap<>(UploadHost.Kind.class);
        Map<UploadHost.Kind, List<Point>> inFlight = new EnumMap<>(UploadHost.Kind.class);
        for (UploadHost.Kind kind : List.of(UploadHost.Kind.JETTY, UploadHost.Kind.SPILL, UploadHost.Kind.MEMORY)) {
            if (kind != UploadHost.Kind.MEMORY) {
                idle.put(kind, measure(kind, "idle", idleStart, IDLE));
            }
            inFlight.put(kind, measure(kind, "flight", flightStart, IN_FLIGHT));
        }
        Path page = Path.of(System.getProperty("sluice.rootDir"), "parser", "docs", "memory.md");
        Files.writeString(page, page(idle, inFlight));
    }

    /**
     * Measures each count. As many uploads run before the first measurement, so that classes are loaded and pools are
     * filled.
     */
    private List<Point> measure(UploadHost.Kind kind, String what, byte[] start, int[] counts) throws Exception {
        Path own = Files.createDirectory(directory.resolve(kind + what));
        List<Point> points = new ArrayList<>();
        try (ServerProcess server = UploadHost.start(kind, own, MACHINE)) {
            long idle = server.look().descriptors();
            int warm = counts[counts.length - 1];
            try (SlowClients clients = clients(server, start)) {
                clients.enter(warm, LIMIT);
                awaitStarts(server, clients, 0, (long) warm * start.length);
            }
            server.await("the warm-up has ended", vitals -> vitals.budget() == 0 && vitals.descriptors() <= idle);
            long before = server.look().bodyBytes();
            try (SlowClients clients = clients(server, start)) {
                for (int count : counts) {
                    clients.enter(count - clients.open(), LIMIT);
                    awaitStarts(server, clients, before, (long) count * start.length);
                    Vitals vitals = server.collect();
                    points.add(new Point(
                            count,
                            vitals.heap() + vitals.pool(),
                            vitals.direct(),
                            server.residentBytes(),
                            vitals.threads(),
                            vitals.budget()));
                }
            }
            server.await("all uploads have ended", vitals -> vitals.budget() == 0);
            UploadHost.end(server, own);
        }
        return points;
    }

    private static SlowClients clients(ServerProcess server, byte[] start) throws IOException {
        return new SlowClients(server.port(), TestForm.CONTENT_TYPE, start, 64L * MEBIBYTE);
    }

    /** Waits until the server has received all that was sent at once, and each client has sent two more bytes. */
    private static void awaitStarts(ServerProcess server, SlowClients clients, long before, long bytes)
            throws IOException {
        clients.drive("all have sent", LIMIT, () -> clients.fewestDrips() >= 2 || clients.open() == 0);
        long least = before + bytes + 2L * clients.open();
        Vitals vitals = server.await("all has come", now -> now.bodyBytes() >= least);
        assertTrue(vitals.bodyBytes() < least + 60L * clients.open() + 60, vitals::toString);
    }

    private static final String PAGE = """
            # Memory of uploads in progress

            This page shows how much memory an upload takes while it arrives. `MemoryFigures` (a test class of \
            `samples/servlet`) measures the figures and writes this page. Do not edit it. The figures are from \
            {date}. The command is `{command}`.

            - Machine: {machine}
            - JVM: {jvm}
            - Server: Jetty {jetty}, in its own process. One thread of another process runs all clients.

            The columns mean:

            - *heap*: the heap in use after a full garbage collection.
            - *direct*: direct buffers of the JDK and of Netty.
            - *resident*: the resident memory of the process. The whole heap is resident from the start, so growth \
            is memory outside the heap. The value varies by a few MiB in any case. For a hundred uploads its slope \
            therefore means nothing.
            - *budget*: the bytes reserved in Sluice's memory budget.
            - *per upload*: the slope of the least-squares line through the rows.

            The socket buffers of the kernel are not included.

            *Jetty* is a servlet without Sluice. It reads the body with a `ReadListener` and discards it, so it \
            shows what the container needs. *Sluice* is a servlet that calls `MultipartRequests.receive` behind \
            `SluiceFilter`, with the default options, including the minimum rate.

            ## An idle slow upload

            Each client has sent the head of its request, a field, and the start of a file. It then sends one byte a \
            second.

            {idle}
            An idle upload reserves {idle budget} KiB of the memory budget. Most of that is room for a header \
            section, reserved before it is needed.

            ## One MiB of upload in progress

            Each client has sent 1 MiB of a file. It then sends one byte a second. *Spill* uses the default options, \
            as above: a part larger than 64 KiB is written to a file. *Memory* keeps everything in memory.

            {in flight}
            An upload of which 1 MiB has arrived reserves {spilled budget} KiB of the memory budget if the part is \
            written to a file, and {kept budget} KiB if it is kept in memory.
            """;

    private static String page(Map<UploadHost.Kind, List<Point>> idle, Map<UploadHost.Kind, List<Point>> inFlight)
            throws IOException {
        List<Point> jettyIdle = idle.get(UploadHost.Kind.JETTY);
        List<Point> sluiceIdle = idle.get(UploadHost.Kind.SPILL);
        StringBuilder idleTable = new StringBuilder();
        table(idleTable, Map.of("Jetty", jettyIdle, "Sluice", sluiceIdle), List.of("Jetty", "Sluice"));
        line(idleTable, "Jetty alone", jettyIdle, null);
        line(idleTable, "Jetty with Sluice", sluiceIdle, null);
        line(idleTable, "difference: Sluice", sluiceIdle, jettyIdle);
        List<Point> jetty = inFlight.get(UploadHost.Kind.JETTY);
        List<Point> spill = inFlight.get(UploadHost.Kind.SPILL);
        List<Point> memory = inFlight.get(UploadHost.Kind.MEMORY);
        StringBuilder table = new StringBuilder();
        table(table, Map.of("Jetty", jetty, "Spill", spill, "Memory", memory), List.of("Jetty", "Spill", "Memory"));
        line(table, "Jetty alone", jetty, null);
        line(table, "Jetty with Sluice, written to files", spill, null);
        line(table, "Jetty with Sluice, kept in memory", memory, null);
        line(table, "difference: Sluice, written to files", spill, jetty);
        line(table, "difference: Sluice, kept in memory", memory, jetty);
        return PAGE.replace("{date}", LocalDate.now(ZoneOffset.UTC).toString())
                .replace("{command}", COMMAND)
                .replace(
                        "{machine}",
                        fromProc("/proc/cpuinfo", "model name") + ", "
                                + Runtime.getRuntime().availableProcessors() + " cores, "
                                + fromProc("/proc/meminfo", "MemTotal") + ", " + System.getProperty("os.name"))
                .replace(
                        "{jvm}",
                        System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version") + ", `"
                                + String.join(" ", MACHINE) + "`")
                .replace("{jetty}", org.eclipse.jetty.util.Jetty.VERSION)
                .replace("{idle}", idleTable)
                .replace("{idle budget}", format(slope(sluiceIdle, Point::budget) / 1024))
                .replace("{in flight}", table)
                .replace("{spilled budget}", format(slope(spill, Point::budget) / 1024))
                .replace("{kept budget}", format(slope(memory, Point::budget) / 1024));
    }

    private static void table(StringBuilder page, Map<String, List<Point>> columns, List<String> order) {
        page.append("| server | uploads | heap (KiB) | direct (KiB) | resident (KiB) | threads | budget (KiB) |\n")
                .append("|---|---|---|---|---|---|---|\n");
        for (String name : order) {
            for (Point point : columns.get(name)) {
                page.append(String.format(
                        Locale.ROOT,
                        "| %s | %d | %d | %d | %d | %d | %d |%n",
                        name,
                        point.uploads(),
                        point.heap() >> 10,
                        point.direct() >> 10,
                        point.resident() >> 10,
                        point.threads(),
                        point.budget() >> 10));
            }
        }
        page.append("\n| per upload | heap | direct | heap and direct | resident |\n|---|---|---|---|---|\n");
    }

    private static void line(StringBuilder page, String name, List<Point> points, List<Point> without) {
        double heap = share(points, without, Point::heap) / 1024;
        double direct = share(points, without, Point::direct) / 1024;
        double resident = share(points, without, Point::resident) / 1024;
        page.append("| ").append(name);
        for (double value : new double[] {heap, direct, heap + direct, resident}) {
            page.append(" | ").append(format(value)).append(" KiB");
        }
        page.append(" |\n");
    }

    private static String format(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private static double share(List<Point> points, List<Point> without, ToDoubleFunction<Point> what) {
        return slope(points, what) - (without == null ? 0 : slope(without, what));
    }

    private static double slope(List<Point> points, ToDoubleFunction<Point> what) {
        List<Trend.Point> line = points.stream()
                .map(point -> new Trend.Point(point.uploads(), what.applyAsDouble(point)))
                .toList();
        return Trend.of("", line, 0, 0).perMillion() / 1e6;
    }

    private static String fromProc(String file, String key) throws IOException {
        for (String line : Files.readAllLines(Path.of(file))) {
            if (line.startsWith(key)) {
                return line.substring(line.indexOf(':') + 1).strip();
            }
        }
        return "unknown " + key;
    }
}
