package dev.sluice.samples.s3.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.MultipartHandlers;
import dev.sluice.s3.FormRecord;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.s3.Weed;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.Seaweed;
import dev.sluice.testkit.TenUploads;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** Runs the code samples of the pages about object stores. */
@ExtendWith(Weed.IsThere.class)
@Timeout(300)
class ObjectStorePageTest {
    private static final Path PAGE =
            Path.of(System.getProperty("sluice.rootDir", "../.."), "parser/docs/spring-boot-s3.md");
    private static final long LIMIT = 1 << 20;
    private static final MultipartBody BODY = MultipartBody.builder()
            .field("title", "Holiday")
            .file("photo", "a.pdf", "application/pdf", Content.of(new byte[100_000]))
            .build();

    private static URI store;

    @TempDir
    Path directory;

    private final MemoryBudget budget = MemoryBudget.of(64 << 20);
    private S3Sinks sinks;

    @BeforeAll
    static void startStore() throws Exception {
        store = Weed.running().address();
    }

    private S3Sinks newSinks() {
        sinks = S3Sinks.builder(
                        S3ObjectStore.builder(Weed.BUCKET)
                                .endpoint(store)
                                .region("us-east-1")
                                .pathStyle(true)
                                .credentials(Weed.CREDENTIALS)
                                .build(),
                        budget)
                .prefix("incoming/")
                .build();
        return sinks;
    }

    @AfterEach
    void assertNothingIsHeld() throws Exception {
        if (sinks != null) {
            sinks.whenIdle().get(1, TimeUnit.MINUTES);
            assertEquals(0, budget.used());
        }
    }

    private static HttpResponse<String> post(int port, String path, MultipartBody body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Content-Type", body.contentType())
                .header("Accept", "text/html,*/*;q=0.8")
                .POST(body.publisher())
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Checks a response, and that the form it names is in the store. */
    private static void assertStored(S3Sinks sinks, String start, HttpResponse<String> answer) throws Exception {
        assertEquals(200, answer.statusCode(), answer.body());
        String type = answer.headers().firstValue("Content-Type").orElse("");
        assertTrue(type.startsWith("text/plain"), "a browser may run scripts in the title: " + type);
        Matcher id = Pattern.compile(Pattern.quote(start) + "([0-9a-f]{32})").matcher(answer.body());
        assertTrue(id.matches(), answer.body());
        FormRecord record = sinks.find(id.group(1)).get(1, TimeUnit.MINUTES).orElseThrow();
        assertEquals(100_000, record.files().get(0).stored().size());
    }

    @Test
    void applications_withPropertiesOfPage_storeForms() throws Exception {
        List<String> properties = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.config.location=optional:classpath:/none/",
                "--spring.main.banner-mode=off",
                "--logging.level.root=ERROR",
                "--sluice.directory=" + directory,
                "--sluice.s3.endpoint=" + store,
                "--sluice.s3.access-key=" + Seaweed.USER,
                "--sluice.s3.secret-key=" + Seaweed.SECRET));
        fenced("properties").lines().map("--"::concat).forEach(properties::add);
        properties.add("--sluice.max-body-bytes=" + LIMIT);
        try (ConfigurableApplicationContext context =
                SpringApplication.run(Uploads.class, properties.toArray(String[]::new))) {
            int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
            S3Sinks inContext = context.getBean(S3Sinks.class);
            assertStored(inContext, "Holiday: 1 files in form ", post(port, "/uploads", BODY));
            assertStored(inContext, "Holiday: form ", post(port, "/documents", BODY));
            MultipartBody other = MultipartBody.builder()
                    .file("photo", "a.exe", "application/x-msdownload", Content.of(new byte[10]))
                    .build();
            assertEquals(415, post(port, "/documents", other).statusCode());
            for (String path : List.of("/uploads", "/documents")) {
                String sent = sendTen(port, path, inContext, context.getBean(MemoryBudget.class));
                String expected = TenUploads.all(200);
                if (path.equals("/documents")) {
                    expected = expected.replace("wrong file type: 200, 1", "wrong file type: 415, 0");
                }
                assertEquals(expected, sent, path);
            }
            String shown = BrowserForm.submit(URI.create("http://127.0.0.1:" + port + "/uploads"), "photo", directory);
            assertTrue(shown.contains("Sea: 2 files in form "), shown);
            inContext.whenIdle().get(1, TimeUnit.MINUTES);
            assertEquals(0, context.getBean(MemoryBudget.class).used());
        }
    }

    private static String sendTen(int port, String path, S3Sinks sinks, MemoryBudget memory) throws Exception {
        return new TenUploads(port, path, "photo", "application/pdf", LIMIT).send(() -> stored(sinks), memory::used);
    }

    /** {@return the number of files in the store, once no form is in progress} */
    private static long stored(S3Sinks sinks) throws Exception {
        sinks.whenIdle().get(1, TimeUnit.MINUTES);
        try (S3AsyncClient client = Weed.client(store)) {
            return client.listObjectsV2(request -> request.bucket(Weed.BUCKET)).join().contents().stream()
                    .filter(object -> object.key().matches("incoming/[0-9a-f]{32}/\\d+"))
                    .count();
        }
    }

    /** {@return the first code block of that language in the page} */
    private static String fenced(String language) throws IOException {
        Matcher block = Pattern.compile("```" + language + "\\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(PAGE));
        assertTrue(block.find(), language);
        return block.group(1);
    }

    @Test
    void servlet_storesForm() throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", directory.toString());
        FilterDef filter = new FilterDef();
        filter.setFilterName("sluice");
        filter.setFilter(
                SluiceFilter.of(FormOptions.inMemory(budget).maxBodyBytes(LIMIT).build()));
        context.addFilterDef(filter);
        FilterMap paths = new FilterMap();
        paths.setFilterName("sluice");
        paths.addURLPattern("/*");
        context.addFilterMap(paths);
        Tomcat.addServlet(context, "s3", new S3Servlet(newSinks())).addMapping("/uploads");
        tomcat.start();
        try {
            int port = tomcat.getConnector().getLocalPort();
            assertStored(sinks, "Holiday: form ", post(port, "/uploads", BODY));
            assertEquals(TenUploads.all(200), sendTen(port, "/uploads", sinks, budget));
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    @Test
    void nettyHandler_storesForm() throws Exception {
        S3Sinks used = newSinks();
        MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (Forms forms =
                Forms.of(FormOptions.inMemory(budget).maxBodyBytes(LIMIT).build())) {
            MultipartHandlers handlers = MultipartHandlers.onEventLoop(forms, request -> new S3Receiver(used))
                    .build();
            Channel server = new ServerBootstrap()
                    .group(loops)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler());
                        }
                    })
                    .bind("127.0.0.1", 0)
                    .sync()
                    .channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            assertStored(used, "Holiday: form ", post(port, "/uploads", BODY));
            assertEquals(TenUploads.all(200), sendTen(port, "/uploads", used, budget));
            handlers.shutdown(Duration.ofSeconds(5)).toCompletableFuture().get(1, TimeUnit.MINUTES);
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
