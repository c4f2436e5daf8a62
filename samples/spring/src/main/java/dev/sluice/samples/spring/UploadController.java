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

/** A controller with one method for each way in which Spring MVC binds uploads. */
@RestController
public class UploadController {
    private final Path directory;

    UploadController(@Value("${uploads.directory}") Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    /**
     * A description of a received file.
     *
     * @param filename the file name as the client sent it
     * @param size the size of the file, in bytes
     * @param sha256 the SHA-256 of the file, in lower-case hexadecimal
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

    public record Titling(
            @NotBlank @Size(max = 80) String title, @NotNull MultipartFile file) {}

    public record Titled(String title, Received file) {}

    public record Description(String title, List<String> tags) {}

    public record Described(Description description, Received file) {}

    /** The response for a stored file, with the name that this application generated. */
    public record Stored(String as, long size) {}

    /** Binds a file and a field to an object, and validates it. */
    @PostMapping("/titled")
    public Titled titled(@Valid @ModelAttribute Titling form) throws IOException {
        return new Titled(form.title(), Received.of(form.file()));
    }

    /** Returns the response that names the invalid fields. */
    @ExceptionHandler
    ProblemDetail invalid(MethodArgumentNotValidException invalid) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.BAD_REQUEST,
                invalid.getFieldErrors().stream()
                        .map(error -> error.getField() + " " + error.getDefaultMessage())
                        .sorted()
                        .collect(Collectors.joining(", ")));
    }

    /** Receives several files of one field with PUT, a method for which containers do not parse forms. */
    @PutMapping("/album")
    public List<Received> album(@RequestParam("photos") List<MultipartFile> photos) throws IOException {
        List<Received> received = new ArrayList<>();
        for (MultipartFile photo : photos) {
            received.add(Received.of(photo));
        }
        return received;
    }

    /** Receives a file and a part in JSON, which Spring converts. */
    @PostMapping("/described")
    public Described described(
            @RequestPart("description") Description description, @RequestPart("file") MultipartFile file)
            throws IOException {
        return new Described(description, Received.of(file));
    }

    /** Stores the file. If the target is on the same file system, the file is renamed, not copied. */
    @PostMapping("/stored")
    public Stored stored(@RequestParam("file") MultipartFile file) throws IOException {
        String name = UUID.randomUUID().toString();
        file.transferTo(directory.resolve(name).toAbsolutePath().toFile());
        return new Stored(name, file.getSize());
    }

    /** Reads the file as a stream. {@code file.getBytes()} would load all of it, without charging the memory budget. */
    private static String sha256(MultipartFile file) throws IOException {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            try (InputStream in = new DigestInputStream(file.getInputStream(), sha256)) {
                in.transferTo(OutputStream.nullOutputStream());
            }
            return HexFormat.of().formatHex(sha256.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is missing, although every Java platform must have it", e);
        }
    }
}
