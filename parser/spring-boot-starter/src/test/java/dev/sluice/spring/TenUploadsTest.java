package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The {@link TenUploads}, sent to ordinary controllers of Spring MVC and WebFlux, which do not refer to Sluice. */
@Timeout(300)
class TenUploadsTest {
    private static final long LIMIT = 1 << 20;

    @TempDir
    Path directory;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Photos.class)
    static class Servlets {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({WebFluxTest.Netty.class, ReactivePhotos.class})
    static class Reactive {}

    @RestController
    static class Photos {
        private final Path store;

        Photos(@Value("${store}") Path store) {
            this.store = store;
        }

        @PostMapping(path = "/upload", consumes = MediaType.MULTIPART_FORM_DATA_VALUE)
        String upload(@RequestPart(name = "photo", required = false) List<MultipartFile> photos) throws IOException {
            int count = 0;
            for (MultipartFile photo : photos) {
                if (!photo.isEmpty()) { // empty if the user chose no file
                    photo.transferTo(store.resolve(UUID.randomUUID().toString()));
                    count++;
                }
            }
            return "stored " + count;
        }
    }

    @RestController
    static class ReactivePhotos {
        private final Path store;

        ReactivePhotos(@Value("${store}") Path store) {
            this.store = store;
        }

        @PostMapping(path = "/upload", consumes = MediaType.MULTIPART_FORM_DATA_VALUE)
        Mono<String> upload(@RequestPart("photo") Flux<FilePart> photos) {
            return photos.filter(photo -> !photo.filename().isEmpty()) // empty if the user chose no file
                    .concatMap(photo -> photo.transferTo(
                                    store.resolve(UUID.randomUUID().toString()))
                            .thenReturn(1))
                    .count()
                    .map(count -> "stored " + count);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Servlets.class, Reactive.class})
    void controller_storesEachFileOfAcceptedForms(Class<?> application) throws Exception {
        Path store = Files.createDirectory(directory.resolve("store"));
        boolean reactive = application == Reactive.class;
        try (RunningApplication running = RunningApplication.start(
                List.of(application),
                "--store=" + store,
                "--sluice.max-body-bytes=" + LIMIT,
                "--spring.main.web-application-type=" + (reactive ? "reactive" : "servlet"),
                RunningApplication.NO_SECURITY)) {
            String sent = new TenUploads(running.port(), "/upload", "photo", "image/jpeg", LIMIT)
                    .send(() -> (long) SpooledFiles.below(store).size(), running::heldResources);
            assertEquals(TenUploads.all(200), sent);
            URI upload = URI.create("http://127.0.0.1:" + running.port() + "/upload");
            String shown = BrowserForm.submit(upload, "photo", directory);
            assertTrue(shown.contains("stored 2"), shown);
        }
    }
}
