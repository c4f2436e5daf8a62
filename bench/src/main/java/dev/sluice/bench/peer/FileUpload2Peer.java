package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.apache.commons.fileupload2.core.AbstractFileUpload;
import org.apache.commons.fileupload2.core.DiskFileItem;
import org.apache.commons.fileupload2.core.DiskFileItemFactory;
import org.apache.commons.fileupload2.core.FileItemInput;
import org.apache.commons.fileupload2.core.FileItemInputIterator;
import org.apache.commons.fileupload2.core.RequestContext;

/** Apache Commons FileUpload 2, streaming. */
final class FileUpload2Peer implements Peer {

    private final Body body;
    private final Body.ChunkedStream stream;

    FileUpload2Peer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        FileItemInputIterator items = new Streaming().getItemIterator(new Request());
        while (items.hasNext()) {
            FileItemInput item = items.next();
            try (InputStream in = item.getInputStream()) {
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
        public long getContentLength() {
            return -1;
        }

        @Override
        public InputStream getInputStream() {
            return stream;
        }

        @Override
        public boolean isMultipartRelated() {
            return false;
        }
    }

    /** Only the streaming entry point, which the base class has ready, is used. */
    private static final class Streaming extends AbstractFileUpload<InputStream, DiskFileItem, DiskFileItemFactory> {

        @Override
        public FileItemInputIterator getItemIterator(InputStream request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<String, List<DiskFileItem>> parseParameterMap(InputStream request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<DiskFileItem> parseRequest(InputStream request) {
            throw new UnsupportedOperationException();
        }
    }
}
