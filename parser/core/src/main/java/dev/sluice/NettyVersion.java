package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import java.lang.module.ModuleDescriptor.Version;
import org.jspecify.annotations.Nullable;

/** Says by name and version which Netty cannot be used, before something fails that does not. */
final class NettyVersion {
    private static final Version LEAST = Version.parse("4.1.118");
    private static final @Nullable String PROBLEM = problem();

    private NettyVersion() {}

    /** Throws an {@link IllegalStateException} if the Netty that this class sees is too old, or not whole. */
    static void require() {
        if (PROBLEM != null) {
            throw new IllegalStateException(
                    "Sluice needs netty-buffer and netty-common, " + LEAST + " or newer; " + PROBLEM);
        }
    }

    private static @Nullable String problem() {
        try {
            String ofBuffer = problem(ByteBuf.class.getPackage());
            return ofBuffer != null ? ofBuffer : problem(ReferenceCounted.class.getPackage());
        } catch (NoClassDefFoundError e) {
            return "there is no " + e.getMessage();
        }
    }

    /** Only Netty's own manifest is believed: in the jar of an application there may be a copy, and another version. */
    private static @Nullable String problem(Package netty) {
        String title = netty.getImplementationTitle();
        String version = netty.getImplementationVersion();
        boolean isKnown = title != null && title.startsWith("Netty/") && version != null;
        return isKnown && Version.parse(version).compareTo(LEAST) < 0 ? title + " is " + version : null;
    }
}
