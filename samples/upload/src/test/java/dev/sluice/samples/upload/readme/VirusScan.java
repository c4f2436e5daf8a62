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
                .decider(part -> part.filename() == null
                        ? PartDecision.storeInMemory()
                        : PartDecision.to(scanner.scan(PartSink.toFile(
                                spool, files.resolve(UUID.randomUUID().toString())))))
                .build();
    }
}
// @end
