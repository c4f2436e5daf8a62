package dev.sluice.samples.mvc.readme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

@SpringBootApplication
@RestController
public class PhotoApplication {
    private final Path directory;

    PhotoApplication(@Value("${photos.directory}") String directory) throws IOException {
        this.directory = Files.createDirectories(Path.of(directory).toAbsolutePath());
    }

    public static void main(String[] args) {
        SpringApplication.run(PhotoApplication.class, args);
    }

    @PostMapping(path = "/upload", produces = "text/plain") // not HTML, because it contains a field
    String upload(@RequestParam("title") String title, @RequestParam("photo") List<MultipartFile> photos)
            throws IOException {
        int stored = 0;
        for (MultipartFile photo : photos) {
            if (!photo.isEmpty()) { // empty if the user chose no file
                Path target = directory.resolve(UUID.randomUUID() + ".jpg");
                photo.transferTo(target.toFile()); // renames the temporary file; for a Path, Spring copies it
                stored++;
            }
        }
        return title + ": " + stored + " photos stored";
    }
}
