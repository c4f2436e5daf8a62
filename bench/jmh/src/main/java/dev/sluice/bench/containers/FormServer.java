package dev.sluice.bench.containers;

import dev.sluice.bench.body.Named;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.SluiceFilter;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.FilterInfo;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * One servlet container with nothing set but its port, limits that no body here meets, and the same threshold for the filter
 * and for its own parser. Ends with its standard input.
 */
public final class FormServer {
    private static final String HOST = "127.0.0.1";

    private final Path directory;
    private final Filter filter;
    private final MultipartConfigElement config;

    private FormServer(int threshold) throws IOException {
        directory = Files.createTempDirectory("sluice-bench");
        SpoolDirectory spool = SpoolDirectory.builder(directory).open();
        filter = SluiceFilter.of(FormOptions.builder(spool, MemoryBudget.of(64 << 20))
                .spillThreshold(threshold)
                .build());
        config = new MultipartConfigElement(directory.toString(), -1, -1, threshold);
    }

    /** @param args container, and bytes up to which a file stays in memory */
    public static void main(String[] args) throws Exception {
        FormServer server = new FormServer(Integer.parseInt(args[1]));
        int port = Named.of(Container.class, args[0]).start(server);
        System.out.println("port " + port);
        while (System.in.read() >= 0) {
            // until whoever started this has ended
        }
        System.exit(0);
    }

    private static Parts servlet(Intake intake) {
        return new Parts(intake != Intake.DRAIN);
    }

    /** Answers how many parts there are and how many bytes they have: of the body as a whole where it is not parsed. */
    private static final class Parts extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final boolean parsed;

        Parts(boolean parsed) {
            this.parsed = parsed;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int parts = 0;
            long bytes = 0;
            try {
                if (parsed) {
                    for (Part part : request.getParts()) {
                        try (InputStream in = part.getInputStream()) {
                            bytes += drain(in);
                        }
                        parts++;
                    }
                } else {
                    bytes = drain(request.getInputStream());
                }
            } catch (jakarta.servlet.ServletException e) {
                throw new IOException(e);
            }
            response.setContentType("text/plain");
            response.getWriter().print(parts + " " + bytes);
        }

        private static long drain(InputStream in) throws IOException {
            byte[] some = new byte[8192];
            long bytes = 0;
            for (int count = in.read(some); count >= 0; count = in.read(some)) {
                bytes += count;
            }
            return bytes;
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
                for (Intake intake : Intake.values()) {
                    Wrapper wrapper = Tomcat.addServlet(context, intake.id(), servlet(intake));
                    if (intake == Intake.NATIVE) {
                        wrapper.setMultipartConfigElement(application.config);
                    }
                    context.addServletMapping(intake.path(), intake.id());
                }
                FilterDef definition = new FilterDef();
                definition.setFilterName("sluice");
                definition.setFilter(application.filter);
                context.addFilterDef(definition);
                FilterMap mapping = new FilterMap();
                mapping.setFilterName("sluice");
                mapping.addURLPattern(Intake.FILTER.path());
                context.addFilterMap(mapping);
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
                for (Intake intake : Intake.values()) {
                    ServletHolder holder = new ServletHolder(servlet(intake));
                    if (intake == Intake.NATIVE) {
                        holder.getRegistration().setMultipartConfig(application.config);
                    }
                    context.addServlet(holder, intake.path());
                }
                context.addFilter(
                        new FilterHolder(application.filter), Intake.FILTER.path(), EnumSet.of(DispatcherType.REQUEST));
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
                        .setTempDir(application.directory);
                for (Intake intake : Intake.values()) {
                    deployment.addServlet(
                            Servlets.servlet(intake.id(), Parts.class, new ImmediateInstanceFactory<>(servlet(intake)))
                                    .setMultipartConfig(intake == Intake.NATIVE ? application.config : null)
                                    .addMapping(intake.path()));
                }
                deployment.addFilter(new FilterInfo(
                        "sluice", SluiceFilter.class, new ImmediateInstanceFactory<>(application.filter)));
                deployment.addFilterUrlMapping("sluice", Intake.FILTER.path(), DispatcherType.REQUEST);
                DeploymentManager manager = io.undertow.servlet.api.ServletContainer.Factory.newInstance()
                        .addDeployment(deployment);
                manager.deploy();
                Undertow server = Undertow.builder()
                        .addHttpListener(0, HOST)
                        .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L) // else 2 MiB
                        .setServerOption(UndertowOptions.MULTIPART_MAX_ENTITY_SIZE, -1L)
                        .setHandler(manager.start())
                        .build();
                server.start();
                return ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
            }
        };

        /** {@return the port} */
        abstract int start(FormServer application) throws Exception;
    }
}
