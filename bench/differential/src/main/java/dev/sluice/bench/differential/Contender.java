package dev.sluice.bench.differential;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Tally;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A parser whose reading is compared with Sluice's. */
enum Contender {
    FILEUPLOAD2("Commons FileUpload 2", true, PeerKind.FILEUPLOAD2),
    FILEUPLOAD1("Commons FileUpload 1", true, PeerKind.FILEUPLOAD1),
    TOMCAT("Tomcat 11", true, PeerKind.TOMCAT),
    JETTY("Jetty 12.1", true, PeerKind.JETTY),
    NETTY42("Netty 4.2", true, PeerKind.NETTY42_KEPT),
    NETTY41("Netty 4.1", true, PeerKind.NETTY41_KEPT),
    NETTY_CONTRIB("netty-contrib", true, PeerKind.NETTY_CONTRIB),
    UNDERTOW("Undertow", true, PeerKind.UNDERTOW),
    SPRING("Spring WebFlux", true, PeerKind.SPRING),
    OKHTTP("OkHttp", false, PeerKind.OKHTTP),
    MIMEPULL("mimepull", false, PeerKind.MIMEPULL),
    ARMERIA("Armeria", true, PeerKind.ARMERIA),
    HELIDON("Helidon 4", true, PeerKind.HELIDON);

    final String title;
    private final boolean tellsNames;
    private final PeerKind kind;

    Contender(String title, boolean tellsNames, PeerKind kind) {
        this.title = title;
        this.tellsNames = tellsNames;
        this.kind = kind;
    }

    /** The name used in results: lower case with dashes. */
    String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The name of its library in the list of versions. */
    String library() {
        return switch (this) {
            case FILEUPLOAD1, FILEUPLOAD2 -> "commons-" + id().replace("1", "");
            case NETTY41, NETTY42 -> id().replace("4", "-4.");
            case NETTY_CONTRIB -> "netty-contrib-multipart";
            default -> id();
        };
    }

    static Contender of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Whether it reads name and file name; the others leave that to the caller. */
    boolean tellsNames() {
        return tellsNames;
    }

    /** Those that the running JVM can load. */
    static List<Contender> here() {
        List<Contender> here = new ArrayList<>(List.of(values()));
        if (!PeerKind.HELIDON.runsHere()) {
            here.remove(HELIDON);
        }
        return here;
    }

    /** Reads a body in the chunks it comes in. */
    Reading read(Body body) {
        Tally tally = Tally.recording();
        try (Peer peer = kind.open(body, 0, Memory.WRAPPED_EACH)) {
            if (this == NETTY41) {
                // Without messages about what this Netty itself leaks where it refuses a body.
                peer.leakLevel("DISABLED");
            }
            peer.run(tally);
            return new Reading(tally.parts(), null);
        } catch (Exception e) {
            return new Reading(tally.parts(), e.getClass().getSimpleName());
        }
    }
}
