package dev.sluice.bench;

import dev.sluice.bench.peer.Named;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.Truth;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.SluiceFilter;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.ServletContainerInitializerInfo;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.jspecify.annotations.Nullable;

/**
 * The process that {@link Containers} measures: one servlet container with default settings, except for its port, the requests
 * per connection, and limits that no body exceeds. The filter and the container's parser have the same memory threshold. The process exits
 * when its standard input is closed.
 */
public final class FormServer implements ServletContainerInitializer {
    private static final String HOST = "127.0.0.1";

    private final Path directory;
    private final Filter filter;
    private final MultipartConfigElement config;

    /** The ways to process a body. The servlet that reads the parts is the same for the first two. */
    enum Intake implements Named {
        /** Sluice's filter parses the form. */
        FILTER,
        /** The container parses the form. */
        NATIVE,
        /** The servlet reads the body without parsing it. */
        DRAIN;

        String path() {
            return "/" + id();
        }
    }

    private FormServer(int threshold) throws IOException {
        directory = Files.createTempDirectory("sluice-bench");
        SpoolDirectory spool = SpoolDirectory.builder(directory).open();
        filter = SluiceFilter.of(FormOptions.builder(spool, MemoryBudget.of(64 << 20))
                .spillThreshold(threshold)
                .build());
        config = new MultipartConfigElement(directory.toString(), -1, -1, threshold);
    }

    /** @param args the container, and the largest size of a file that stays in memory */
    public static void main(String[] args) throws Exception {
        FormServer server = new FormServer(Integer.parseInt(args[1]));
        int port = Named.of(Container.class, args[0]).start(server);
        System.out.println("port " + port);
        while (System.in.read() >= 0) {
            // runs until the parent process closes the stream
        }
        try (Stream<Path> files = Files.walk(server.directory)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } finally {
            System.exit(0);
        }
    }

    @Override
    public void onStartup(@Nullable Set<Class<?>> classes, ServletContext context) {
        for (Intake intake : Intake.values()) {
            ServletRegistration.Dynamic servlet = context.addServlet(intake.id(), new Parts(intake != Intake.DRAIN));
            servlet.addMapping(intake.path());
            if (intake == Intake.NATIVE) {
                servlet.setMultipartConfig(config);
            }
        }
        context.addFilter("sluice", filter)
                .addMappingForUrlPatterns(EnumSet.of(DispatcherType.REQUEST), false, Intake.FILTER.path());
    }

    /** Responds with the number of parts and of their bytes; without parsing, with 0 and the size of the body. */
    private static final class Parts extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final boolean parsed;

        Parts(boolean parsed) {
            this.parsed = parsed;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            Tally tally = Tally.counting();
            if (parsed) {
                for (Part part : request.getParts()) {
                    try (InputStream in = part.getInputStream()) {
                        tally.drain(in);
                    }
                    tally.endPart();
                }
            } else {
                tally.drain(request.getInputStream());
            }
            Truth found = tally.asTruth();
            response.setContentType("text/plain");
            response.getWriter().print(found.parts() + " " + found.bytes());
        }
    }

    /** The containers that can be embedded. */
    enum Container implements Named {
        TOMCAT {
            @Override
            int start(FormServer application) throws Exception {
                Tomcat tomcat = new Tomcat();
                tomcat.setBaseDir(application.directory.toString());
                Connector connector = new Connector();
                connector.setPort(0);
                connector.setProperty("address", HOST);
                connector.setProperty("maxKeepAliveRequests", "-1");
                connector.setMaxPartCount(1000);
                tomcat.setConnector(connector);
                Context context = tomcat.addContext("", application.directory.toString());
                context.addServletContainerInitializer(application, Set.of());
                tomcat.start();
                return connector.getLocalPort();
            }
        },

        JETTY {
            @Override
            int start(FormServer application) throws Exception {
                Server server = new Server();
                ServerConnector connector = new ServerConnector(server);
                connector.setHost(HOST);
                server.addConnector(connector);
                ServletContextHandler context = new ServletContextHandler("/");
                context.setTempDirectory(application.directory.toFile());
                context.addServletContainerInitializer(application);
                server.setHandler(context);
                server.start();
                return connector.getLocalPort();
            }
        },

        UNDERTOW {
            @Override
            int start(FormServer application) throws Exception {
                DeploymentInfo deployment = Servlets.deployment()
                        .setClassLoader(FormServer.class.getClassLoader())
                        .setContextPath("/")
                        .setDeploymentName("forms")
                        .setTempDir(application.directory)
                        .addServletContainerInitializer(new ServletContainerInitializerInfo(
                                FormServer.class, new ImmediateInstanceFactory<>(application), Set.of()));
                DeploymentManager manager = io.undertow.servlet.api.ServletContainer.Factory.newInstance()
                        .addDeployment(deployment);
                manager.deploy();
                Undertow server = Undertow.builder()
                        .addHttpListener(0, HOST)
                        .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L) // the default is 2 MiB
                        .setServerOption(UndertowOptions.MULTIPART_MAX_ENTITY_SIZE, -1L)
                        .setHandler(manager.start())
                        .build();
                server.start();
                return ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
            }
        };

        /** Starts the container and returns its port. */
        abstract int start(FormServer application) throws Exception;
    }
}
