package dev.sluice.samples.upload.readme;

// @start region="virus-scan"
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.netty.ClamAvScanner;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.UUID;

final class VirusScan {
    static FormOptions options(
            EventLoopGroup group, InetSocketAddress clamd, SpoolDirectory spool, MemoryBudget memory, Path files) {
        Bootstrap transport = new Bootstrap().group(group).channel(NioSocketChannel.class);
        ClamAvScanner scanner = ClamAvScanner.builder(transport, clamd).build();
        return FormOptions.builder(spool, memory)
                .decider(part -> {
                    if (part.filename() == null) {
                        return PartDecision.storeInMemory(); // a field
                    }
                    Path file = files.resolve(UUID.randomUUID().toString());
                    return PartDecision.peek(
                            1,
                            first -> first.length == 0
                                    ? PartDecision.store() // nothing to scan, for example an input that was left empty
                                    : PartDecision.to(scanner.scan(PartSink.toFile(spool, file))));
                })
                .build();
    }
}
// @end
