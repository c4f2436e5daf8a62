package dev.sluice.samples.upload;

import dev.sluice.bench.endtoend.Variant;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.NettyDecoding;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocatorMetric;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * The sample server in a process of its own, with one of the ways to take in a body that are compared; in the server's
 * package because nothing but this has a use for exchanging that. It tells its port, then answers to the lines
 * {@code usage} and {@code checksums true|false} on its standard input until that ends.
 */
public final class MeasuredServer {

    private static final String CHECKSUMS = "checksums ";

    private final UploadServer server;
    private final LongAdder bytes = new LongAdder();
    private volatile boolean checksums;

    private MeasuredServer(Variant variant, Path directory) throws IOException {
        BodyReceiver.Factory factory = switch (variant) {
            case SLUICE ->
                (boundary, options, sink, loop, worker, metrics, listener) ->
                        new BodyIntake(boundary, options, new CountingSink(tally()), loop, worker, metrics, listener);
            case DISCARD ->
                (boundary, options, sink, loop, worker, metrics, listener) -> new DroppingReceiver(loop, listener);
            case HANDED_OVER ->
                (boundary, options, sink, loop, worker, metrics, listener) ->
                        new HandingReceiver(loop, worker, listener);
            case SLUICE_LOOP ->
                (boundary, options, sink, loop, worker, metrics, listener) -> {
                    Tally tally = tally();
                    return new DecodingReceiver(new SluiceDecoding(boundary, options, tally), tally, loop, listener);
                };
            case NETTY42_LOOP ->
                (boundary, options, sink, loop, worker, metrics, listener) -> {
                    Tally tally = tally();
                    String type = "multipart/form-data; boundary=\"" + boundary.value() + "\"";
                    return new DecodingReceiver(new NettyDecoding(type, tally, false), tally, loop, listener);
                };
        };
        this.server = UploadServer.start(
                ServerConfig.of(directory).withKeepFreeBytes(0),
                (boundary, options, sink, loop, worker, metrics, listener) -> new MeteredReceiver(
                        factory.create(boundary, options, sink, loop, worker, metrics, listener), bytes));
    }

    private Tally tally() {
        return checksums ? Tally.checking() : Tally.counting();
    }

    public static void main(String[] args) throws IOException {
        Path directory = Files.createTempDirectory("sluice-measured");
        MeasuredServer measured = new MeasuredServer(Variant.of(args[0]), directory);
        try (UploadServer server = measured.server) {
            System.out.println("port " + server.port());
            measured.answer(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), System.out);
        } finally {
            Files.delete(directory);
        }
    }

    private void answer(BufferedReader in, PrintStream out) throws IOException {
        for (String line; (line = in.readLine()) != null; ) {
            if (line.startsWith(CHECKSUMS)) {
                checksums = Boolean.parseBoolean(line.substring(CHECKSUMS.length()));
                out.println(line);
            } else {
                out.println("usage " + cpuNanos() + " " + directBytes() + " " + bytes.sum());
            }
        }
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static long directBytes() {
        PooledByteBufAllocatorMetric pool = PooledByteBufAllocator.DEFAULT.metric();
        return pool.usedDirectMemory();
    }
}
