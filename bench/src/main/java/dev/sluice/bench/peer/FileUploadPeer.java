package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import java.io.InputStream;
import org.apache.commons.fileupload.FileItemIterator;
import org.apache.commons.fileupload.FileItemStream;
import org.apache.commons.fileupload.FileUpload;
import org.apache.commons.fileupload.FileUploadException;
import org.apache.commons.fileupload.RequestContext;

/** Apache Commons FileUpload 1, streaming. */
final class FileUploadPeer implements Peer {

    private final Body body;
    private final Body.ChunkedStream stream;

    FileUploadPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException, FileUploadException {
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

    private final class Request implements RequestContext {

        @Override
        public String getCharacterEncoding() {
            return "UTF-8";
        }

        @Override
        public String getContentType() {
            return body.contentType();
        }

        @Override
        @Deprecated
        public int getContentLength() {
            return -1;
        }

        @Override
        public InputStream getInputStream() {
            return stream;
        }
    }
}
