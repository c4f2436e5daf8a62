package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Named;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Tally;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A parser whose reading is compared with Sluice's. */
enum Contender implements Named {
    FILEUPLOAD2("Commons FileUpload 2", "commons-fileupload2", PeerKind.FILEUPLOAD2),
    FILEUPLOAD1("Commons FileUpload 1", "commons-fileupload", PeerKind.FILEUPLOAD1),
    TOMCAT("Tomcat 11", "tomcat", PeerKind.TOMCAT),
    JETTY("Jetty 12.1", "jetty", PeerKind.JETTY),
    NETTY42("Netty 4.2", "netty-4.2", PeerKind.NETTY42_KEPT),
    NETTY41("Netty 4.1", "netty-4.1", PeerKind.NETTY41_KEPT),
    NETTY_CONTRIB("netty-contrib", "netty-contrib-multipart", PeerKind.NETTY_CONTRIB),
    UNDERTOW("Undertow", "undertow", PeerKind.UNDERTOW),
    SPRING("Spring WebFlux", "spring", PeerKind.SPRING),
    OKHTTP("OkHttp", "okhttp", PeerKind.OKHTTP),
    MIMEPULL("mimepull", "mimepull", PeerKind.MIMEPULL),
    ARMERIA("Armeria", "armeria", PeerKind.ARMERIA),
    HELIDON("Helidon 4", "helidon", PeerKind.HELIDON),
    GO("Go mime/multipart", "./reader-go"),
    WERKZEUG("Werkzeug", "./python/bin/python", "./reader.py", "werkzeug"),
    DJANGO("Django", "./python/bin/python", "./reader.py", "django"),
    EMAIL("Python email", "./python/bin/python", "./reader.py", "email"),
    AIOHTTP("aiohttp", "./python/bin/python", "./reader.py", "aiohttp"),
    STARLETTE("Starlette", "./python/bin/python", "./reader.py", "starlette"),
    PYTHON_MULTIPART("python-multipart", "./python/bin/python", "./reader.py", "python-multipart"),
    MULTIPART("Python multipart", "./python/bin/python", "./reader.py", "multipart"),
    FALCON("Falcon", "./python/bin/python", "./reader.py", "falcon"),
    BUSBOY("busboy", "node", "./reader.js", "busboy"),
    FASTIFY_BUSBOY("@fastify/busboy", "node", "./reader.js", "@fastify/busboy"),
    UNDICI("undici", "node", "./reader.js", "undici"),
    FORMIDABLE("formidable", "node", "./reader.js", "formidable"),
    MULTER("multer", "node", "./reader.js", "multer"),
    MULTIPARTY("multiparty", "node", "./reader.js", "multiparty"),
    REMIX("@remix-run/multipart-parser", "node", "./reader.js", "@remix-run/multipart-parser"),
    MULTER_RS("Rust multer", "./reader-rust", "multer"),
    S3S("s3s-multipart", "./reader-rust", "s3s-multipart"),
    FORM_NET("form-net", "./reader-rust", "form-net"),
    RACK("Rack", "ruby", "./reader.rb"),
    PHP("PHP", "php", "-n", "./reader.php");

    final String title;
    /** The name of the parser in the list of versions. */
    final String library;

    /** The command that starts a reader in another language. Words that start with {@code ./} are files in the readers' folder. */
    final List<String> command;
    /** Whether the reader returns fields as text in UTF-8, not as bytes. */
    final boolean fieldsAreText;

    private final @Nullable PeerKind kind;

    Contender(String title, String library, PeerKind kind) {
        this.title = title;
        this.library = library;
        this.kind = kind;
        this.command = List.of();
        this.fieldsAreText = false;
    }

    Contender(String title, String... command) {
        this.title = title;
        this.library = title;
        this.kind = null;
        this.command = List.of(command);
        this.fieldsAreText = Set.of("Django", "undici", "Starlette").contains(title);
    }

    @Override
    @JsonValue
    public String id() {
        return Named.super.id();
    }

    @JsonCreator
    static Contender of(String id) {
        return Named.of(Contender.class, id);
    }

    /** Returns whether the parser returns the name and the file name of a part. */
    boolean readsNames() {
        return this != OKHTTP && this != MIMEPULL;
    }

    /** Returns the Java parsers that this JVM supports. */
    static List<Contender> javaParsers() {
        return Arrays.stream(values())
                .filter(each -> each.kind != null && each.kind.runsHere())
                .toList();
    }

    static List<Contender> foreign() {
        return Arrays.stream(values()).filter(each -> each.kind == null).toList();
    }

    /** Returns the first difference between two readings, or empty if they are the same. */
    Optional<Difference> difference(Reading sluice, Reading other) {
        return kind == null ? Mapping.between(sluice, other, this) : Difference.between(sluice, other, readsNames());
    }

    /** Reads a body in its chunks. */
    Reading read(Body body) {
        if (kind == null) {
            throw new IllegalStateException(title + " is not a Java parser");
        }
        Tally tally = Tally.recording();
        try (Peer peer = kind.open(body, 0, Memory.WRAPPED_EACH)) {
            if (this == NETTY41) {
                // Avoids messages about buffers that this version of Netty leaks when it rejects a body.
                peer.leakLevel("DISABLED");
            }
            peer.run(tally);
            return new Reading(tally.parts(), null);
        } catch (Exception e) {
            return new Reading(tally.parts(), e.getClass().getSimpleName());
        }
    }
}
