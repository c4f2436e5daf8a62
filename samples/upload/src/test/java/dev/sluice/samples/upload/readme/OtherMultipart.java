package dev.sluice.samples.upload.readme;

// @start region="other-multipart"
import dev.sluice.Boundary;
import dev.sluice.MultipartReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;

final class OtherMultipart {
    /** Reads multipart/mixed, multipart/related, multipart/byteranges and all others: the type and size of each part. */
    static Map<String, Long> read(InputStream in, String contentType) throws IOException {
        Map<String, Long> sizes = new LinkedHashMap<>();
        try (MultipartReader reader = MultipartReader.create(in, Boundary.anyMultipart(contentType))) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                sizes.put(part.index() + " " + part.contentType(), part.transferTo(OutputStream.nullOutputStream()));
            }
        }
        return sizes;
    }
}
// @end
