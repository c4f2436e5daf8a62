package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder;
import dev.sluice.buffer.DelimiterSearch;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.startup.ContextConfig;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.scan.StandardJarScanner;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A web application with Sluice in WEB-INF/lib that is deployed and undeployed repeatedly. */
@Timeout(300)
@Tag("sized")
class RedeployTest {
    private static final int WARM = 5;

    /** The direct memory, in bytes, that a thread of the container may use. */
    private static final long OF_THREAD = 64 << 10;

    @TempDir
    Path directory;

    /** The warnings that the container logs. When it undeploys an application, it warns about leaks, such as threads. */
    private static final class LeakWarnings extends Handler {
        private final Queue<String> messages = new ConcurrentLinkedQueue<>();

        @Override
        public void publish(LogRecord record) {
            boolean slowRandom = record.getLoggerName().endsWith(".SessionIdGeneratorBase"); // on a busy machine
            if (record.getLevel().intValue() >= Level.WARNING.intValue() && !slowRandom) {
                messages.add(record.getLoggerName() + ": " + record.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** A container in which the application can be deployed. */
    private interface Host extends AutoCloseable {
        Deployed deploy(Path application) throws Exception;

        /** {@return the number of its threads} */
        int threads();

        @Override
        void close();
    }

    /** The application while it is deployed. */
    private record Deployed(ClassLoader loader, int port, RunningContainer.Stop undeploy) {}

    @Test
    void tomcat_redeployments_leaveNothing() throws Exception {
        LeakWarnings leakWarnings = new LeakWarnings();
        Logger logger = Logger.getLogger("org.apache");
        Level level = logger.getLevel();
        logger.setLevel(Level.WARNING);
        logger.addHandler(leakWarnings);
        try {
            assertNothingIsLeftOfDeployments(new TomcatHost(Files.createDirectory(directory.resolve("host"))));
            assertEquals(List.of(), List.copyOf(leakWarnings.messages));
        } finally {
            logger.removeHandler(leakWarnings);
            logger.setLevel(level);
        }
    }

    @Test
    void jetty_redeployments_leaveNothing() throws Exception {
        assertNothingIsLeftOfDeployments(new JettyHost(Files.createDirectory(directory.resolve("host"))));
    }

    private void assertNothingIsLeftOfDeployments(Host host) throws Exception {
        Path application = application();
        // If each deployment leaked as much as a thread may use, the growth would exceed what all threads may use.
        int times = ProofSize.of("sluice.deployments", WARM + 1 + host.threads() + 2, 25);
        try (host) {
            List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
            Set<Thread> threads = Set.of();
            long direct = 0;
            for (int i = 0; i < times; i++) {
                loaders.add(deployUploadAndTakeDown(host, application));
                if (i == WARM) {
                    collect(loaders);
                    threads = Thread.getAllStackTraces().keySet();
                    direct = directMemory();
                }
            }
            collect(loaders);
            List<Thread> more = new ArrayList<>(Thread.getAllStackTraces().keySet());
            more.removeAll(threads);
            assertEquals(List.of(), more.stream().filter(Thread::isAlive).toList());
            long growth = directMemory() - direct;
            assertTrue(growth <= host.threads() * OF_THREAD, growth + " bytes of direct memory more than at first");
        }
        try (Stream<Path> left = Files.walk(directory.resolve("host"))) {
            assertEquals(
                    List.of(),
                    left.map(file -> file.getFileName().toString())
                            .filter(name -> name.startsWith("sluice-"))
                            .toList());
        }
    }

    private static WeakReference<ClassLoader> deployUploadAndTakeDown(Host host, Path application) throws Exception {
        Deployed deployed = host.deploy(application);
        try {
            assertNotSame(SluiceFilter.class, load(deployed.loader(), SluiceFilter.class));
            assertNotSame(ByteBuf.class, load(deployed.loader(), ByteBuf.class));
            int large = 200_000;
            TestForm form = new TestForm()
                    .field("a", "1")
                    .file("f", "f.bin", new byte[large])
                    .file("g", "g", new byte[10]);
            for (String target : List.of("/app/upload", "/app/upload?async", "/app/upload")) {
                try (RawHttp connection = new RawHttp(deployed.port())) {
                    assertEquals(
                            large + 11 + " 0",
                            Question.describe(connection.send(form.post(target)).response()));
                }
            }
            return new WeakReference<>(deployed.loader());
        } finally {
            deployed.undeploy().now();
            // Jetty's selector refers to the last connection, and so to the application, until there is another one.
            try (RawHttp other = new RawHttp(deployed.port())) {
                assertEquals(
                        404,
                        other.send(TestForm.headOf("GET", "/none")).response().status());
            }
        }
    }

    private static final class TomcatHost implements Host {
        private static final int THREADS = 2;

        private final Tomcat tomcat = ServletContainer.newTomcat();

        TomcatHost(Path directory) throws Exception {
            tomcat.setBaseDir(directory.toString());
            Connector connector = new Connector();
            connector.setPort(0);
            connector.setProperty("maxThreads", String.valueOf(THREADS));
            connector.setProperty("minSpareThreads", String.valueOf(THREADS));
            tomcat.setConnector(connector);
            tomcat.getHost();
            tomcat.start();
        }

        @Override
        public Deployed deploy(Path application) {
            StandardJarScanner jars = new StandardJarScanner();
            jars.setScanClassPath(false);
            Context context = new StandardContext();
            context.setPath("/app");
            context.setDocBase(application.toString());
            context.setJarScanner(jars);
            context.addLifecycleListener(new ContextConfig());
            tomcat.getHost().addChild(context);
            return new Deployed(
                    context.getLoader().getClassLoader(),
                    tomcat.getConnector().getLocalPort(),
                    () -> tomcat.getHost().removeChild(context));
        }

        @Override
        public int threads() {
            return THREADS;
        }

        @Override
        public void close() {
            assertEquals(List.of(), List.of(((StandardHost) tomcat.getHost()).findReloadedContextMemoryLeaks()));
            try {
                tomcat.stop();
                tomcat.destroy();
            } catch (LifecycleException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class JettyHost implements Host {
        private static final int THREADS = 8;

        private final Path directory;
        private final Server server = new Server(new QueuedThreadPool(THREADS, THREADS));
        private final ContextHandlerCollection contexts = new ContextHandlerCollection();
        private final ServerConnector connector = new ServerConnector(server, 1, 1);

        JettyHost(Path directory) throws Exception {
            this.directory = directory;
            server.addConnector(connector);
            server.setHandler(contexts);
            server.start();
        }

        @Override
        public Deployed deploy(Path application) throws Exception {
            OwnClassesFirst loader = new OwnClassesFirst(application.resolve("WEB-INF"));
            ServletContextHandler context = new ServletContextHandler("/app");
            context.setClassLoader(loader);
            context.setTempDirectory(directory.resolve("app").toFile());
            FilterHolder filter =
                    new FilterHolder(load(loader, SluiceFilter.class).asSubclass(Filter.class));
            filter.setInitParameter("keepFreeBytes", "0");
            filter.setAsyncSupported(true);
            context.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST));
            ServletHolder servlet =
                    new ServletHolder(load(loader, RedeployedServlet.class).asSubclass(Servlet.class));
            servlet.setAsyncSupported(true);
            context.addServlet(servlet, "/upload");
            contexts.addHandler(context);
            context.start();
            return new Deployed(loader, connector.getLocalPort(), () -> {
                context.stop();
                contexts.removeHandler(context);
                context.destroy();
                loader.close();
            });
        }

        @Override
        public int threads() {
            return THREADS;
        }

        @Override
        public void close() {
            try {
                server.stop();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A class loader that behaves like the class loader of a web application. */
    private static final class OwnClassesFirst extends URLClassLoader {
        OwnClassesFirst(Path webInf) throws IOException {
            super(urls(webInf), RedeployTest.class.getClassLoader());
        }

        private static URL[] urls(Path webInf) throws IOException {
            List<URL> urls = new ArrayList<>();
            urls.add(webInf.resolve("classes").toUri().toURL());
            try (Stream<Path> jars = Files.list(webInf.resolve("lib"))) {
                for (Path jar : jars.toList()) {
                    urls.add(jar.toUri().toURL());
                }
            }
            return urls.toArray(new URL[0]);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : own(name, resolve);
            }
        }

        private Class<?> own(String name, boolean resolve) throws ClassNotFoundException {
            try {
                return findClass(name);
            } catch (ClassNotFoundException e) {
                return super.loadClass(name, resolve);
            }
        }
    }

    private static Class<?> load(ClassLoader loader, Class<?> type) {
        try {
            return loader.loadClass(type.getName());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs the garbage collector until it has removed all class loaders. */
    private static void collect(List<WeakReference<ClassLoader>> loaders) {
        Eventually.isTrue(
                () -> {
                    System.gc();
                    return loaders.stream().allMatch(each -> each.get() == null);
                },
                () -> loaders.stream().filter(each -> each.get() != null).count() + " class loaders are reachable");
    }

    private static long directMemory() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    /** {@return a web application of the jars and classes that this test runs with} */
    private Path application() throws Exception {
        Path root = Files.createDirectory(directory.resolve("application"));
        Path lib = Files.createDirectories(root.resolve("WEB-INF/lib"));
        int count = 0;
        for (Class<?> each : List.of(
                SluiceFilter.class,
                MultipartDecoder.class,
                DelimiterSearch.class,
                ByteBuf.class,
                ReferenceCounted.class)) {
            Path from = Path.of(
                    each.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path jar = lib.resolve("lib" + count++ + ".jar");
            if (Files.isDirectory(from)) {
                pack(from, jar);
            } else {
                Files.copy(from, jar);
            }
        }
        String servlet = RedeployedServlet.class.getName();
        Path file = root.resolve("WEB-INF/classes").resolve(servlet.replace('.', '/') + ".class");
        Files.createDirectories(file.getParent());
        try (InputStream in = RedeployedServlet.class.getResourceAsStream("RedeployedServlet.class")) {
            Files.copy(in, file);
        }
        Files.writeString(root.resolve("WEB-INF/web.xml"), """
                <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
                  <filter>
                    <filter-name>multipart</filter-name>
                    <filter-class>%s</filter-class>
                    <async-supported>true</async-supported>
                    <init-param><param-name>keepFreeBytes</param-name><param-value>0</param-value></init-param>
                  </filter>
                  <filter-mapping>
                    <filter-name>multipart</filter-name>
                    <url-pattern>/*</url-pattern>
                  </filter-mapping>
                  <servlet>
                    <servlet-name>upload</servlet-name>
                    <servlet-class>%s</servlet-class>
                    <async-supported>true</async-supported>
                  </servlet>
                  <servlet-mapping>
                    <servlet-name>upload</servlet-name>
                    <url-pattern>/upload</url-pattern>
                  </servlet-mapping>
                </web-app>
                """.formatted(SluiceFilter.class.getName(), servlet));
        return root;
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, entries);
                entries.closeEntry();
            }
        }
    }
}
