package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.bytebuf.ByteBufPeer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Every parser, with what it is forced to copy. */
public enum PeerKind {
    SLUICE_PUSH("Sluice, push", true, true, "none: slices of the chunk fed", ByteBufPeer::sluice),
    SLUICE_PULL("Sluice, pull", false, true, Copies.PULL, StreamPeer.of(StreamPeer::sluice)),
    SLUICE_PULL_CHUNKS(
            "Sluice, pull, chunk by chunk",
            false,
            true,
            "stream into a pooled chunk",
            StreamPeer.of(StreamPeer::sluiceChunks)),
    SLUICE_SERVLET("Sluice, servlet filter, kept in memory", false, true, Copies.SERVLET, ServletPeer.of(false)),
    SLUICE_SERVLET_STREAMING(
            "Sluice, servlet filter, streaming", false, true, Copies.SERVLET_STREAMING, ServletPeer.of(true)),
    NETTY42_KEPT("Netty 4.2, kept in memory", true, true, Copies.NETTY, ByteBufPeer::nettyKept),
    NETTY42_DROPPED("Netty 4.2, content dropped", true, true, Copies.NETTY, ByteBufPeer::nettyDropped),
    /** As Netty ran by default up to JDK 23; newer ones have it do without Unsafe unless they are told this. */
    NETTY42_UNSAFE(
            "Netty 4.2, content dropped, with Unsafe allowed", true, true, "as Netty 4.2", ByteBufPeer::nettyDropped),
    NETTY41_KEPT("Netty 4.1, kept in memory", true, true, "as Netty 4.2", NettyIsland.ofNetty41("nettyKept")),
    NETTY41_DROPPED("Netty 4.1, content dropped", true, true, "as Netty 4.2", NettyIsland.ofNetty41("nettyDropped")),
    NETTY_CONTRIB("netty-contrib multipart core", true, true, Copies.CONTRIB, ByteBufPeer::contrib),
    FILEUPLOAD1("Commons FileUpload 1", false, true, Copies.FILEUPLOAD, StreamPeer.of(StreamPeer::fileUpload1)),
    FILEUPLOAD2("Commons FileUpload 2", false, true, "as Commons FileUpload 1", StreamPeer.of(StreamPeer::fileUpload2)),
    TOMCAT("Tomcat 11", false, true, "as Commons FileUpload 1", StreamPeer.of(StreamPeer::tomcat)),
    JETTY("Jetty 12.1", true, true, "none: slices", JettyPeer::new),
    UNDERTOW("Undertow", true, false, "none: duplicates; looks at one byte at a time", UndertowPeer::new),
    SPRING("Spring WebFlux on arrays", true, true, "none: split buffers", SpringPeer::onArrays),
    SPRING_NETTY("Spring WebFlux on Netty buffers", true, true, "none: split buffers", SpringPeer::onNetty),
    MIMEPULL("mimepull", false, false, Copies.MIMEPULL, StreamPeer.of(StreamPeer::mimepull)),
    OKHTTP("OkHttp", false, false, "stream into segments", StreamPeer.of(StreamPeer::okHttp)),
    ARMERIA("Armeria", true, false, Copies.ARMERIA, ArmeriaPeer::new),
    HELIDON("Helidon 4", false, true, "stream into new 1 KiB arrays, pieces, the caller's array", HelidonPeer::new),
    CHUNKS_ONLY("chunks only (control)", true, false, "nothing is decoded", ByteBufPeer::chunksOnly);

    private static final class Copies {
        static final String PULL = "stream into a pooled chunk, chunk into the caller's array";
        static final String SERVLET = "stream into a chunk, chunk into memory, memory into the caller's array";
        static final String SERVLET_STREAMING = "stream into a chunk, chunk into the caller's array";
        static final String NETTY =
                "every chunk into its own buffer, every piece of content into a new buffer, the rest"
                        + " moved down after a part";
        static final String CONTRIB = "every chunk behind what is left of the one before, every piece of content into a"
                + " new buffer; shared chunks once more, by the benchmark, because it writes to what it is given";
        static final String FILEUPLOAD = "stream into a 4 KiB buffer, then into the caller's array, byte by byte";
        static final String MIMEPULL = "stream into 8 KiB blocks, then into the caller's array";
        static final String ARMERIA = "of a file all but its first chunk, each with what was left of the one before";
    }

    private static final int JAVA_OF_HELIDON = 21;
    private static final int JAVA_WITH_UNSAFE_OPTION = 23;
    /** What has netty use Unsafe on a JDK where it would not by itself. */
    private static final List<String> ALLOW_UNSAFE =
            List.of("-Dio.netty.noUnsafe=false", "--sun-misc-unsafe-memory-access=allow");

    private final String title;
    private final boolean direct;
    private final boolean names;
    private final String copies;
    private final Peer.Opener opener;

    PeerKind(String title, boolean direct, boolean names, String copies, Peer.Opener opener) {
        this.title = title;
        this.direct = direct;
        this.names = names;
        this.copies = copies;
        this.opener = opener;
    }

    public String title() {
        return title;
    }

    /** The name used on the command line and in results: lower case with dashes. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static PeerKind of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** What this parser, or the way it must be fed, copies. */
    public String copies() {
        return copies;
    }

    /** Whether it can be fed direct memory as it is. */
    public boolean takesDirect() {
        return direct;
    }

    /** Whether it reads name and file name from the Content-Disposition header. */
    public boolean readsNames() {
        return names;
    }

    public boolean isSluice() {
        return name().startsWith("SLUICE");
    }

    /** Whether the running JVM can load it. */
    public boolean runsHere() {
        int java = Runtime.version().feature();
        return switch (this) {
            case HELIDON -> java >= JAVA_OF_HELIDON;
            case NETTY42_UNSAFE -> java >= JAVA_WITH_UNSAFE_OPTION;
            default -> true;
        };
    }

    /** What the JVM must be started with for it, beside what is common to all. */
    public List<String> jvmArgs() {
        return switch (this) {
            case NETTY41_KEPT, NETTY41_DROPPED -> List.of("-D" + NettyIsland.THREADS_OF_41 + "=true");
            case NETTY42_UNSAFE -> ALLOW_UNSAFE;
            default -> List.of();
        };
    }

    public Peer open(Body body, int chunkSize, Memory memory) {
        return opener.open(body, chunkSize, memory);
    }

    /** All parsers that run here, without the control. */
    public static List<PeerKind> parsers() {
        List<PeerKind> kinds = new ArrayList<>();
        for (PeerKind kind : values()) {
            if (kind.runsHere() && kind != CHUNKS_ONLY) {
                kinds.add(kind);
            }
        }
        return kinds;
    }
}
