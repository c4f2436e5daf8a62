package dev.sluice.samples.spring;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

/** Takes uploads in each way that Spring MVC has for them. */
@RestController
public class UploadController {
    private final Path directory;

    UploadController(@Value("${uploads.directory}") Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    /**
     * A file as it arrived.
     *
     * @param filename as the client sent it
     * @param size in bytes
     * @param sha256 in lower-case hexadecimal
     */
    public record Received(
            String name,
            @Nullable String filename,
            @Nullable String contentType,
            long size,
            String sha256) {
        static Received of(MultipartFile file) throws IOException {
            return new Received(
                    file.getName(),
                    file.getOriginalFilename(),
                    file.getContentType(),
                    file.getSize(),
                    UploadController.sha256(file));
        }
    }

    /** A form of one file and one field. */
    public record Titling(
            @NotBlank @Size(max = 80) String title, @NotNull MultipartFile file) {}

    /** What one file and one field make. */
    public record Titled(String title, Received file) {}

    /** A part in JSON. */
    public record Description(String title, List<String> tags) {}

    /** What a part in JSON and a file make. */
    public record Described(Description description, Received file) {}

    /** Where a file went, under a name that this application made. */
    public record Stored(String as, long size) {}

    /** One file and a field, bound to an object that says what is valid. */
    @PostMapping("/titled")
    public Titled titled(@Valid @ModelAttribute Titling form) throws IOException {
        return new Titled(form.title(), Received.of(form.file()));
    }

    /** Says which field is not valid, for the page to show. */
    @ExceptionHandler
    ProblemDetail invalid(MethodArgumentNotValidException invalid) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.BAD_REQUEST,
                invalid.getFieldErrors().stream()
                        .map(error -> error.getField() + " " + error.getDefaultMessage())
                        .sorted()
                        .collect(Collectors.joining(", ")));
    }

    /** Many files of one name; PUT, for which containers parse no form. */
    @PutMapping("/album")
    public List<Received> album(@RequestParam("photos") List<MultipartFile> photos) throws IOException {
        List<Received> received = new ArrayList<>();
        for (MultipartFile photo : photos) {
            received.add(Received.of(photo));
        }
        return received;
    }

    /** A part in JSON, read by Spring's converter, and a file. */
    @PostMapping("/described")
    public Described described(
            @RequestPart("description") Description description, @RequestPart("file") MultipartFile file)
            throws IOException {
        return new Described(description, Received.of(file));
    }

    /** Keeps the file: on one file system it is renamed, not copied. */
    @PostMapping("/stored")
    public Stored stored(@RequestParam("file") MultipartFile file) throws IOException {
        String name = UUID.randomUUID().toString();
        file.transferTo(directory.resolve(name).toAbsolutePath().toFile());
        return new Stored(name, file.getSize());
    }

    /** Fails after the upload was taken, for the error page to be seen. */
    @PostMapping("/failing")
    public Stored failing(@RequestParam("file") MultipartFile file) {
        throw new IllegalArgumentException("no use for a file of " + file.getSize() + " bytes");
    }

    /** Not of {@code file.getBytes()}: that is all of the file in memory, for which no budget is asked. */
    private static String sha256(MultipartFile file) throws IOException {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            try (InputStream in = new DigestInputStream(file.getInputStream(), sha256)) {
                in.transferTo(OutputStream.nullOutputStream());
            }
            return HexFormat.of().formatHex(sha256.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
