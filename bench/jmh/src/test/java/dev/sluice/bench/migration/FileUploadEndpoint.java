package dev.sluice.bench.migration;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.commons.fileupload.FileItem;
import org.apache.commons.fileupload.FileUpload;
import org.apache.commons.fileupload.FileUploadException;
import org.apache.commons.fileupload.RequestContext;
import org.apache.commons.fileupload.disk.DiskFileItemFactory;

/** The endpoint written with Commons FileUpload 1. */
final class FileUploadEndpoint implements MigrationTest.UploadEndpoint {
    private final Path spool;

    FileUploadEndpoint(Path spool) {
        this.spool = spool;
    }

    // tag::endpoint[]
    @Override
    public Receipt receive(InputStream body, String contentType, Path store) throws IOException {
        FileUpload upload = new FileUpload(new DiskFileItemFactory(64 << 10, spool.toFile()));
        upload.setSizeMax(64L << 20);
        upload.setFileCountMax(100);
        upload.setHeaderEncoding("UTF-8");
        Map<String, List<FileItem>> items = parse(upload, request(body, contentType));
        String title = "";
        int files = 0;
        long bytes = 0;
        try {
            for (FileItem item : items.getOrDefault("title", List.of())) {
                title = item.isFormField() ? item.getString("UTF-8") : title;
            }
            for (FileItem item : items.values().stream().flatMap(List::stream).toList()) {
                if (!item.isFormField() && !item.getName().isEmpty()) { // empty if no file was chosen
                    try (InputStream in = item.getInputStream()) {
                        bytes += Files.copy(in, store.resolve(UUID.randomUUID().toString()));
                    }
                    files++;
                }
            }
        } finally {
            items.values().stream().flatMap(List::stream).forEach(FileItem::delete);
        }
        return new Receipt(title, files, bytes);
    }
    // end::endpoint[]

    private static Map<String, List<FileItem>> parse(FileUpload upload, RequestContext request) throws IOException {
        try {
            return upload.parseParameterMap(request);
        } catch (FileUploadException e) {
            throw new IOException(e);
        }
    }

    private static RequestContext request(InputStream body, String contentType) {
        Class<?>[] type = {RequestContext.class};
        return (RequestContext) Proxy.newProxyInstance(
                type[0].getClassLoader(), type, (proxy, method, arguments) -> switch (method.getName()) {
                    case "getContentType" -> contentType;
                    case "getContentLength" -> -1;
                    case "getInputStream" -> body;
                    default -> "UTF-8";
                });
    }
}
