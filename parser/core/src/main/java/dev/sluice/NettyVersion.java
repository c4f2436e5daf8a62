package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import java.lang.module.ModuleDescriptor.Version;
import org.jspecify.annotations.Nullable;

/** A check that Netty is present and recent enough. The exception names the missing class or the version found. */
final class NettyVersion {
    private static final Version MINIMUM = Version.parse("4.1.118");
    private static final @Nullable String PROBLEM = problem();

    private NettyVersion() {}

    /** Throws an {@link IllegalStateException} if Netty on the class path is incomplete or too old. */
    static void require() {
        if (PROBLEM != null) {
            throw new IllegalStateException(
                    "Sluice needs netty-buffer and netty-common, " + MINIMUM + " or newer; " + PROBLEM);
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

    /**
     * Returns the problem with a package. The version is read only from Netty's own manifest, because the manifest of a shaded copy
     * contains the version of the application.
     */
    private static @Nullable String problem(Package netty) {
        String title = netty.getImplementationTitle();
        String version = netty.getImplementationVersion();
        boolean isKnown = title != null && title.startsWith("Netty/") && version != null;
        return isKnown && Version.parse(version).compareTo(MINIMUM) < 0 ? title + " is " + version : null;
    }
}
