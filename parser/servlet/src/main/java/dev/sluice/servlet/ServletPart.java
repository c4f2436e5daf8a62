package dev.sluice.servlet;

import dev.sluice.PartHead;
import dev.sluice.form.FormPart;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.Part;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An adapter from {@link FormPart} to {@link Part}. */
record ServletPart(FormPart part, RequestState state) implements Part {
    @Override
    public InputStream getInputStream() throws IOException {
        return part.inputStream();
    }

    @Override
    public @Nullable String getContentType() {
        return part.contentType();
    }

    @Override
    public String getName() {
        return part.name();
    }

    @Override
    public @Nullable String getSubmittedFileName() {
        return part.filename();
    }

    @Override
    public long getSize() {
        return part.size();
    }

    /** Moves the content to a file and replaces an existing one. */
    @Override
    public void write(String fileName) throws IOException {
        Path target = target(fileName);
        keepParameter();
        part.moveTo(target, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Reads the texts of the form, so that the parameter remains when the part is moved or deleted. */
    private void keepParameter() {
        if (!part.isFile()) {
            state.form.keepTexts();
        }
    }

    private Path target(String fileName) throws IOException {
        Path location = location();
        Path target;
        try {
            target = location.resolve(fileName).normalize();
        } catch (InvalidPathException e) {
            throw new IOException("the file name for the part is not a valid path", e);
        }
        boolean relative = !Path.of(fileName).isAbsolute();
        if (relative && (!target.startsWith(location) || target.equals(location))) {
            throw new IOException("the relative file name for the part does not lead to a file below " + location
                    + ": pass one that does, or an absolute path");
        }
        return target;
    }

    private Path location() throws IOException {
        Path location = state.form.service().location;
        if (location != null) {
            return location.toAbsolutePath().normalize();
        }
        if (state.context.getAttribute(ServletContext.TEMPDIR) instanceof File directory) {
            return directory.toPath().toAbsolutePath().normalize();
        }
        throw new IOException(
                "relative file names need a directory: pass an absolute path, or set the location of SluiceFilter");
    }

    @Override
    public void delete() throws IOException {
        keepParameter();
        part.delete();
    }

    @Override
    public @Nullable String getHeader(String name) {
        return part.head().header(name);
    }

    @Override
    public Collection<String> getHeaders(String name) {
        return part.head().headers(name);
    }

    /** {@return each name once, spelled as in its first occurrence} Tomcat returns lower case. */
    @Override
    public Collection<String> getHeaderNames() {
        Map<String, String> names = new LinkedHashMap<>();
        for (PartHead.Header header : part.head().headers()) {
            names.putIfAbsent(header.name().toLowerCase(Locale.ROOT), header.name());
        }
        return List.copyOf(names.values());
    }

    /** {@return whether both adapt the same part} Each call of {@code getParts} creates new adapters. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ServletPart that && that.part == part;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(part);
    }

    @Override
    public String toString() {
        return part.toString();
    }
}
