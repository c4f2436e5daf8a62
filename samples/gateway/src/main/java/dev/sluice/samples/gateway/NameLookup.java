package dev.sluice.samples.gateway;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultNameResolver;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A resolver that looks up names on a thread of its own. Lookups of the JDK block, and Netty would make them on an event loop. One
 * thread is enough for the name of the upstream, because the JDK caches the result.
 */
final class NameLookup extends AddressResolverGroup<InetSocketAddress> {
    private final ExecutorService lookups =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("gateway-names", true));

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor loop) {
        return new DefaultNameResolver(loop) {
            @Override
            protected void doResolve(String name, Promise<InetAddress> result) {
                lookups.execute(() -> {
                    try {
                        super.doResolve(name, result);
                    } catch (Exception e) {
                        result.tryFailure(e);
                    }
                });
            }
        }.asAddressResolver();
    }

    @Override
    public void close() {
        super.close();
        lookups.shutdownNow();
    }
}
