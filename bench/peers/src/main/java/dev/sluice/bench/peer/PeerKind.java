package dev.sluice.bench.peer;

import dev.sluice.bench.peer.bytebuf.ByteBufPeer;
import dev.sluice.testkit.TextTable;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** All parsers: whether they accept direct memory, whether they read names, and how they are opened. Their titles are in {@code peers.txt}. */
public enum PeerKind implements Named {
    SLUICE_PUSH(true, true, ByteBufPeer.of("sluice-push")),
    SLUICE_PULL(false, true, StreamPeer.of(StreamPeer::sluice)),
    SLUICE_PULL_CHUNKS(false, true, StreamPeer.of(StreamPeer::sluiceChunks)),
    SLUICE_FORM(false, true, StreamPeer::sluiceForm),
    SLUICE_SERVLET(false, true, ServletPeer.of(false)),
    SLUICE_SERVLET_STREAMING(false, true, ServletPeer.of(true)),
    SLUICE_HANDLER(true, true, HandlerPeer::new),
    SLUICE_WEBFLUX(true, true, SpringPeer::ofSluice),
    NETTY42_KEPT(true, true, ByteBufPeer.of("netty42-kept")),
    NETTY42_DROPPED(true, true, ByteBufPeer.of("netty42-dropped")),
    /** Netty with {@code sun.misc.Unsafe}, which is no longer the default on JDK 24 and newer. */
    NETTY42_UNSAFE(true, true, ByteBufPeer.of("netty42-dropped")),
    NETTY41_KEPT(true, true, NettyIsland.ofNetty41("netty41-kept")),
    NETTY41_DROPPED(true, true, NettyIsland.ofNetty41("netty41-dropped")),
    NETTY_CONTRIB(true, true, ByteBufPeer.of("netty-contrib")),
    FILEUPLOAD1(false, true, StreamPeer.of(StreamPeer::fileUpload1)),
    FILEUPLOAD2(false, true, StreamPeer.of(StreamPeer::fileUpload2)),
    TOMCAT(false, true, StreamPeer.of(StreamPeer::tomcat)),
    JETTY(true, true, ByteBufferPeer::jetty),
    UNDERTOW(true, false, ByteBufferPeer::undertow),
    SPRING(true, true, SpringPeer::onArrays),
    SPRING_NETTY(true, true, SpringPeer::onNetty),
    MIMEPULL(false, false, StreamPeer.of(StreamPeer::mimepull)),
    OKHTTP(false, false, StreamPeer.of(StreamPeer::okHttp)),
    ARMERIA(true, false, ArmeriaPeer::new),
    HELIDON(false, true, HelidonPeer::open),
    CHUNKS_ONLY(true, false, ByteBufPeer.of("chunks-only"));

    /** The title of each parser and the description of its copies, by id. */
    private static final class Texts {
        static final Map<String, String[]> BY_ID = TextTable.lines("/dev/sluice/bench/peer/peers.txt").stream()
                .map(line -> line.split(" \\| "))
                .collect(Collectors.toMap(words -> words[0], words -> words));
    }

    private static final int JAVA_OF_HELIDON = 21;
    private static final int JAVA_WITH_UNSAFE_OPTION = 23;
    /** Arguments that make Netty use {@code sun.misc.Unsafe} on every JDK. */
    private static final List<String> ALLOW_UNSAFE =
            List.of("-Dio.netty.noUnsafe=false", "--sun-misc-unsafe-memory-access=allow");

    public final String title;
    /** Whether the parser accepts direct memory. */
    public final boolean takesDirect;
    /** Whether the parser reads name and file name from the Content-Disposition header. */
    public final boolean readsNames;
    /** The copies made by the parser or needed to feed it. */
    public final String copies;

    private final Peer.Opener opener;

    PeerKind(boolean takesDirect, boolean readsNames, Peer.Opener opener) {
        String[] words = Texts.BY_ID.get(id());
        this.title = words[1];
        this.copies = words[2];
        this.takesDirect = takesDirect;
        this.readsNames = readsNames;
        this.opener = opener;
    }

    public static PeerKind of(String id) {
        return Named.of(PeerKind.class, id);
    }

    public boolean isSluice() {
        return name().startsWith("SLUICE");
    }

    /** Returns whether this JVM supports the parser. */
    public boolean runsHere() {
        int java = Runtime.version().feature();
        return switch (this) {
            case HELIDON -> java >= JAVA_OF_HELIDON;
            case NETTY42_UNSAFE -> java >= JAVA_WITH_UNSAFE_OPTION;
            default -> true;
        };
    }

    /** Returns the JVM arguments that only this parser needs. */
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

    /**
     * Runs a peer once in checking mode and once in counting mode, and compares the result with the content of the body. A parser that
     * does not read names must not report any.
     *
     * @return a description of the first difference
     */
    public Optional<String> wrong(Peer peer, Body body) {
        for (Tally tally : new Tally[] {Tally.checking(), Tally.counting()}) {
            try {
                peer.run(tally);
            } catch (Exception e) {
                return Optional.of("rejects the body: " + e.getClass().getSimpleName());
            }
            Truth found = tally.asTruth();
            Truth truth = body.truth();
            if (found.parts() != truth.parts()) {
                return Optional.of("finds %d parts of %d".formatted(found.parts(), truth.parts()));
            }
            if (found.bytes() != truth.bytes()) {
                return Optional.of("delivers %d bytes of %d".formatted(found.bytes(), truth.bytes()));
            }
            if (tally.checks() && found.checksum() != truth.checksum()) {
                return Optional.of("delivers wrong bytes");
            }
            if (found.nameChars() != (readsNames ? truth.nameChars() : 0)
                    || (tally.checks() && readsNames && found.names() != truth.names())) {
                return Optional.of("reports wrong names");
            }
        }
        return Optional.empty();
    }

    /** Returns all parsers that this JVM supports, without {@link #CHUNKS_ONLY}. */
    public static List<PeerKind> parsers() {
        return Arrays.stream(values())
                .filter(kind -> kind.runsHere() && kind != CHUNKS_ONLY)
                .toList();
    }
}
