package dev.sluice.samples.upload.readme;

import java.io.IOException;
import java.io.InputStream;
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

/** The endpoint of the page on migration with Commons FileUpload 1. */
record FileUploadEndpoint(Path spool) {
    // @start region="fileupload"
    Receipt receive(RequestContext request, Path store) throws IOException, FileUploadException {
        FileUpload upload = new FileUpload(new DiskFileItemFactory(64 << 10, spool.toFile()));
        upload.setSizeMax(64L << 20);
        upload.setFileCountMax(100);
        upload.setHeaderEncoding("UTF-8");
        Map<String, List<FileItem>> items = upload.parseParameterMap(request);
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
    // @end
}
