package dev.sluice.servlet.container;

import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.FilterInfo;
import io.undertow.servlet.api.ServletContainer.Factory;
import io.undertow.servlet.api.ServletInfo;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.modeler.Registry;
import org.eclipse.jetty.ee11.servlet.AsyncContextEvent;
import org.eclipse.jetty.ee11.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;

/**
 * Embedded containers with default settings, except for the port, the temporary directory, the application, a short wait
 * when they stop, and the scheduler of Jetty.
 */
enum ServletContainer {
    JETTY("Jetty " + Server.getVersion()) {
        @Override
        RunningContainer start(WebApp app) throws Exception {
            Server server = new Server(null, new RepeatingScheduler(), null);
            ServerConnector connector = new ServerConnector(server);
            connector.setHost(HOST);
            server.addConnector(connector);
            ServletContextHandler context = new ServletContextHandler("/");
            context.setTempDirectory(app.directory().toFile());
            for (WebApp.ServletAt each : app.servlets()) {
                ServletHolder holder = new ServletHolder(each.pattern(), each.servlet());
                holder.setAsyncSupported(true);
                holder.setInitOrder(1);
                if (each.multipart() != null) {
                    holder.getRegistration().setMultipartConfig(each.multipart());
                }
                context.addServlet(holder, each.pattern());
            }
            for (WebApp.FilterAt each : app.filters()) {
                FilterHolder holder = new FilterHolder(each.filter());
                holder.setAsyncSupported(true);
                context.addFilter(holder, each.pattern(), each.dispatches());
            }
            if (app.errorPage() != null) {
                ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
                errors.addErrorPage(400, 599, app.errorPage());
                context.setErrorHandler(errors);
            }
            server.setHandler(context);
            server.start();
            return new RunningContainer(this, connector.getLocalPort(), server::stop);
        }
    },

    TOMCAT("Tomcat " + org.apache.catalina.util.ServerInfo.getServerNumber()) {
        @Override
        RunningContainer start(WebApp app) throws Exception {
            Tomcat tomcat = newTomcat();
            tomcat.setBaseDir(app.directory().toString());
            Connector connector = new Connector();
            connector.setPort(0);
            connector.setProperty("address", HOST);
            tomcat.setConnector(connector);
            Context context = tomcat.addContext("", app.directory().toString());
            ((StandardContext) context).setUnloadDelay(200); // running requests have this long to end
            for (WebApp.ServletAt each : app.servlets()) {
                Wrapper wrapper = Tomcat.addServlet(context, each.pattern(), each.servlet());
                wrapper.setAsyncSupported(true);
                if (each.multipart() != null) {
                    wrapper.setMultipartConfigElement(each.multipart());
                }
                context.addServletMapping(each.pattern(), each.pattern());
            }
            for (WebApp.FilterAt each : app.filters()) {
                FilterDef definition = new FilterDef();
                definition.setFilterName(each.name());
                definition.setFilter(each.filter());
                definition.setAsyncSupported("true");
                context.addFilterDef(definition);
                FilterMap mapping = new FilterMap();
                mapping.setFilterName(each.name());
                mapping.addURLPattern(each.pattern());
                for (DispatcherType dispatch : each.dispatches()) {
                    mapping.setDispatcher(dispatch.name());
                }
                context.addFilterMap(mapping);
            }
            if (app.errorPage() != null) {
                ErrorPage page = new ErrorPage();
                page.setLocation(app.errorPage());
                context.addErrorPage(page);
            }
            tomcat.start();
            return new RunningContainer(this, connector.getLocalPort(), () -> {
                tomcat.stop();
                tomcat.destroy();
            });
        }
    },

    UNDERTOW("Undertow " + io.undertow.Version.getVersionString()) {
        @Override
        RunningContainer start(WebApp app) throws Exception {
            DeploymentInfo deployment = Servlets.deployment()
                    .setClassLoader(ServletContainer.class.getClassLoader())
                    .setContextPath("/")
                    .setDeploymentName("app")
                    .setTempDir(app.directory());
            for (WebApp.ServletAt each : app.servlets()) {
                ServletInfo info = Servlets.servlet(
                                each.pattern(),
                                each.servlet().getClass(),
                                new ImmediateInstanceFactory<>(each.servlet()))
                        .setAsyncSupported(true)
                        .addMapping(each.pattern());
                if (each.multipart() != null) {
                    info.setMultipartConfig(each.multipart());
                }
                deployment.addServlet(info);
            }
            for (WebApp.FilterAt each : app.filters()) {
                FilterInfo info = Servlets.filter(
                                each.name(), each.filter().getClass(), new ImmediateInstanceFactory<>(each.filter()))
                        .setAsyncSupported(true);
                deployment.addFilter(info);
                for (DispatcherType dispatch : each.dispatches()) {
                    deployment.addFilterUrlMapping(each.name(), each.pattern(), dispatch);
                }
            }
            if (app.errorPage() != null) {
                deployment.addErrorPage(Servlets.errorPage(app.errorPage()));
            }
            DeploymentManager manager = Factory.newInstance().addDeployment(deployment);
            manager.deploy();
            Undertow.Builder builder = Undertow.builder()
                    .addHttpListener(0, HOST)
                    .setServerOption(
                            UndertowOptions.SHUTDOWN_TIMEOUT,
                            200) // by default it waits forever for threads that are reading
                    .setHandler(manager.start());
            if (app.hasLargeBodies()) {
                builder.setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L);
            }
            Undertow server = builder.build();
            server.start();
            InetSocketAddress address =
                    (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
            return new RunningContainer(this, address.getPort(), () -> {
                server.stop();
                manager.stop();
                manager.undeploy();
            });
        }
    };

    /**
     * A scheduler that postpones the timeout task of an asynchronous request until Jetty has stored the task in the event.
     * Jetty loses a timeout whose task runs earlier. This happens to short timeouts on a busy machine.
     */
    private static final class RepeatingScheduler extends ScheduledExecutorScheduler {
        @Override
        public Task schedule(Runnable task, long delay, TimeUnit unit) {
            return super.schedule(
                    () -> {
                        if (task instanceof AsyncContextEvent event && !event.hasTimeoutTask()) {
                            schedule(task, 100, TimeUnit.MILLISECONDS);
                        } else {
                            task.run();
                        }
                    },
                    delay,
                    unit);
        }
    }

    private static final String HOST = InetAddress.getLoopbackAddress().getHostAddress();

    /** Loggers that report expected errors. They are stored here, because the log manager refers to them weakly. */
    private static final List<Logger> SILENT = Stream.of("org.apache", "io.undertow", "org.xnio", "org.jboss")
            .map(Logger::getLogger)
            .peek(each -> each.setLevel(Level.OFF))
            .toList();

    private final String label;

    ServletContainer(String label) {
        this.label = Objects.requireNonNull(label);
    }

    /** {@return a Tomcat without management beans, whose names would collide if several containers run} */
    static Tomcat newTomcat() {
        Registry.disableRegistry();
        return new Tomcat();
    }

    abstract RunningContainer start(WebApp app) throws Exception;

    @Override
    public String toString() {
        return label;
    }
}
