package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import java.io.InputStream;
import org.apache.tomcat.util.http.fileupload.FileItemIterator;
import org.apache.tomcat.util.http.fileupload.FileItemStream;
import org.apache.tomcat.util.http.fileupload.FileUpload;
import org.apache.tomcat.util.http.fileupload.UploadContext;

/** Tomcat's copy of Commons FileUpload, streaming. */
final class TomcatPeer implements Peer {

    private final Body body;
    private final Body.ChunkedStream stream;

    TomcatPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        FileItemIterator items = new FileUpload().getItemIterator(new Request());
        while (items.hasNext()) {
            FileItemStream item = items.next();
            try (InputStream in = item.openStream()) {
                tally.drain(in);
            }
            tally.endPart(item.getFieldName(), item.getName());
        }
    }

    @Override
    public void close() {}

    private final class Request implements UploadContext {

        @Override
        public String getCharacterEncoding() {
            return "UTF-8";
        }

        @Override
        public String getContentType() {
            return body.contentType();
        }

        @Override
        public long contentLength() {
            return -1;
        }

        @Override
        public InputStream getInputStream() {
            return stream;
        }
    }
}
