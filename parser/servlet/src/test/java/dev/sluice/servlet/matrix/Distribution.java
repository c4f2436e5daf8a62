package dev.sluice.servlet.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A container as its vendor ships it. The configuration sets the port and the application, turns on HTTP/2 if it is off
 * by default, and leaves out what the checks do not need. Undertow, which has no distribution, has no limit for bodies.
 */
enum Distribution {
    TOMCAT_10("Tomcat 10.1", "org.apache.tomcat:tomcat:10.1.59:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return tomcat(home, war, port);
        }

        @Override
        Map<String, String> known() {
            return Map.of(ContainerMatrix.CANCELLED, UNANSWERED);
        }
    },
    TOMCAT_11("Tomcat 11.0", "org.apache.tomcat:tomcat:11.0.24:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return tomcat(home, war, port);
        }

        @Override
        Map<String, String> known() {
            return Map.of(ContainerMatrix.CANCELLED, UNANSWERED);
        }
    },
    JETTY_12_0("Jetty 12.0, ee10", "org.eclipse.jetty:jetty-home:12.0.30:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return jetty(home, "ee10", war, port);
        }
    },
    JETTY_12_1_EE10("Jetty 12.1, ee10", "org.eclipse.jetty:jetty-home:12.1.12:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return jetty(home, "ee10", war, port);
        }
    },
    JETTY_12_1("Jetty 12.1, ee11", "org.eclipse.jetty:jetty-home:12.1.12:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return jetty(home, "ee11", war, port);
        }
    },
    UNDERTOW("Undertow", "") {
        @Override
        List<String> install(Path home, Path war, int port) {
            return List.of(
                    "-cp",
                    System.getProperty("java.class.path"),
                    UndertowHost.class.getName(),
                    "" + port,
                    PATH,
                    home.toString());
        }
    },
    WILDFLY("WildFly", "org.wildfly:wildfly-dist:39.0.1.Final:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            Path root = onlyEntry(home);
            Files.copy(war, root.resolve("standalone/deployments").resolve(war.getFileName()));
            return List.of(
                    "-Djboss.home.dir=" + root,
                    "-Djboss.http.port=" + port,
                    "-Djboss.https.port=0",
                    "-Djboss.management.http.port=0",
                    "-jar",
                    root.resolve("jboss-modules.jar").toString(),
                    "-mp",
                    root.resolve("modules").toString(),
                    "org.jboss.as.standalone");
        }
    },
    PAYARA("Payara Micro", "fish.payara.extras:payara-micro:6.2025.1:jar") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            return List.of(
                    "-jar",
                    onlyEntry(home).toString(),
                    "--nohazelcast",
                    "--disablephonehome",
                    "--rootDir",
                    Files.createDirectory(home.resolve("root")).toString(),
                    "--port",
                    "" + port,
                    "--deploy",
                    war.toString());
        }

        @Override
        Map<String, String> known() {
            String page = "if `sendError` is called on a thread outside the container, the response has the status but"
                    + " no error page. The same happens without Sluice";
            String loses = "bytes are sometimes lost when another thread resumes a `ReadListener`. The same happens"
                    + " without Sluice. In this container, keep parts in memory or in files, and do not use sinks that pause";
            return Map.of(
                    ContainerMatrix.REJECTED,
                    page,
                    ContainerMatrix.REJECTED_H2,
                    page,
                    ContainerMatrix.PLAIN_ELSEWHERE,
                    page,
                    ContainerMatrix.PAUSES,
                    loses,
                    ContainerMatrix.PLAIN_PAUSES,
                    loses,
                    ContainerMatrix.CANCELLED,
                    UNANSWERED);
        }
    },
    LIBERTY("Open Liberty", "io.openliberty:openliberty-runtime:25.0.0.12:zip") {
        @Override
        List<String> install(Path home, Path war, int port) throws IOException {
            Path root = onlyEntry(home);
            Path server = Files.createDirectories(root.resolve("usr/servers/matrix"));
            Files.writeString(server.resolve("server.xml"), """
                    <server>
                      <featureManager><feature>servlet-6.0</feature></featureManager>
                      <httpEndpoint id="defaultHttpEndpoint" host="127.0.0.1" httpPort="%d" httpsPort="-1"/>
                      <webApplication location="%s" contextRoot="%s"/>
                    </server>
                    """.formatted(port, war, PATH));
            return List.of(
                    "-javaagent:" + root.resolve("bin/tools/ws-javaagent.jar"),
                    "-jar",
                    root.resolve("bin/tools/ws-server.jar").toString(),
                    "matrix");
        }

        @Override
        Map<String, String> known() {
            String hangs = "a `ReadListener` is sometimes not called again after `isReady` returned false on another"
                    + " thread. The same happens without Sluice. In this container, keep parts in memory or in files, do not use"
                    + " sinks that pause, and set a timeout for the request";
            return Map.of(
                    ContainerMatrix.PAUSES,
                    hangs,
                    ContainerMatrix.PLAIN_PAUSES,
                    hangs,
                    ContainerMatrix.CANCELLED,
                    "if a form is cancelled on a thread outside the container while it arrives, `sendError` may send an"
                            + " empty 200. Nothing is left behind");
        }
    };

    /**
     * Tomcat logs "asyncOperation() is not valid for a request with Async state [COMPLETING]". The stack trace has no
     * class of Sluice.
     */
    private static final String UNANSWERED =
            "about once in some hundred requests the connection closes without a response, because bytes"
                    + " arrive while another thread completes the request. Nothing is left behind";

    /** The context path of the application, and its name. */
    static final String PATH = "/matrix";

    private final String label;
    private final String artifact;

    /** @param artifact the Maven coordinates of the container, or an empty string if it is on the class path */
    Distribution(String label, String artifact) {
        this.label = label;
        this.artifact = artifact;
    }

    String label() {
        return label;
    }

    String version() {
        return artifact.isEmpty() ? io.undertow.Version.getVersionString() : artifact.split(":")[2];
    }

    /** {@return the checks that this container fails for reasons that Sluice cannot change, each with the reason} */
    Map<String, String> known() {
        return Map.of();
    }

    /** {@return the arguments of {@code java} that start the container} */
    abstract List<String> install(Path home, Path war, int port) throws IOException;

    /**
     * Unpacks the container into the empty directory {@code home}.
     *
     * @return the arguments of {@code java} that start the container
     */
    List<String> install(Path downloads, Path home, Path war, int port) throws IOException {
        if (!artifact.isEmpty()) {
            String[] names = artifact.split(":");
            String file = names[1] + "-" + names[2] + "." + names[3];
            if (names[3].equals("zip")) {
                unzip(downloads.resolve(file), home);
            } else {
                Files.copy(downloads.resolve(file), home.resolve(file));
            }
        }
        return install(home, war, port);
    }

    private static void unzip(Path file, Path into) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(file))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Path target = into.resolve(entry.getName()).normalize();
                if (!target.startsWith(into)) {
                    throw new IOException(entry.getName());
                } else if (entry.isDirectory()) {
                    Files.createDirectories(target);
                } else {
                    Files.createDirectories(target.getParent());
                    Files.copy(zip, target);
                }
            }
        }
    }

    private static Path onlyEntry(Path home) throws IOException {
        try (var entries = Files.list(home)) {
            return entries.findFirst().orElseThrow();
        }
    }

    private static List<String> tomcat(Path home, Path war, int port) throws IOException {
        Path root = onlyEntry(home);
        Files.writeString(root.resolve("conf/server.xml"), """
                <Server port="-1"><Service name="Catalina">
                  <Connector address="127.0.0.1" port="%d">
                    <UpgradeProtocol className="org.apache.coyote.http2.Http2Protocol"/>
                  </Connector>
                  <Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine>
                </Service></Server>
                """.formatted(port));
        Files.copy(war, root.resolve("webapps").resolve(war.getFileName()));
        return List.of(
                "-cp",
                root.resolve("bin/bootstrap.jar") + ":" + root.resolve("bin/tomcat-juli.jar"),
                "-Dcatalina.home=" + root,
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "org.apache.catalina.startup.Bootstrap",
                "start");
    }

    private static List<String> jetty(Path home, String environment, Path war, int port) throws IOException {
        Path root = onlyEntry(home);
        Path base = Files.createDirectory(home.resolve("base"));
        Files.createDirectory(base.resolve("webapps"));
        Files.copy(war, base.resolve("webapps").resolve(war.getFileName()));
        return List.of(
                "-jar",
                root.resolve("start.jar").toString(),
                "jetty.home=" + root,
                "jetty.base=" + base,
                "jetty.http.host=127.0.0.1",
                "jetty.http.port=" + port,
                "--module=http,http2c," + environment + "-deploy");
    }
}
