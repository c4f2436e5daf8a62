package dev.sluice.bench.peer;

import dev.sluice.Boundary;
import dev.sluice.MultipartReader;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import okhttp3.MultipartReader.Part;
import okio.Okio;
import okio.Sink;
import org.apache.commons.fileupload2.core.AbstractFileUpload;
import org.apache.commons.fileupload2.core.DiskFileItem;
import org.apache.commons.fileupload2.core.DiskFileItemFactory;
import org.apache.commons.fileupload2.core.FileItemInputIterator;
import org.apache.tomcat.util.http.fileupload.UploadContext;
import org.jspecify.annotations.Nullable;
import org.jvnet.mimepull.MIMEConfig;
import org.jvnet.mimepull.MIMEMessage;
import org.jvnet.mimepull.MIMEPart;

/** Parsers that read from a stream. The stream returns at most one chunk per read. */
final class StreamPeer {
    private static final Sink NOWHERE = Okio.blackhole();

    private StreamPeer() {}

    interface Parser {
        void read(Body body, InputStream stream, Tally tally) throws Exception;
    }

    static Peer.Opener of(Parser parser) {
        return (body, chunkSize, memory) -> open(body, chunkSize, parser);
    }

    static Peer open(Body body, int chunkSize, Parser parser) {
        Body.ChunkedStream stream = body.stream(chunkSize);
        return tally -> {
            stream.rewind();
            parser.read(body, stream, tally);
        };
    }

    static void sluice(Body body, InputStream stream, Tally tally) throws IOException {
        addParts(reader(body, stream), tally);
    }

    /** Reads all parts and closes the reader. */
    static void addParts(MultipartReader all, Tally tally) throws IOException {
        try (MultipartReader reader = all) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                tally.drain(part.inputStream());
                tally.endPart(part.name(), part.filename());
            }
        }
    }

    /** Reads the content as buffers of the reader, without copying it to an array. */
    static void sluiceChunks(Body body, InputStream stream, Tally tally) throws IOException {
        try (MultipartReader reader = reader(body, stream)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                for (ByteBuf data; (data = part.nextData()) != null; ) {
                    ByteBufChunks.add(tally, data);
                }
                tally.endPart(part.name(), part.filename());
            }
        }
    }

    static Peer sluiceForm(Body body, int chunkSize, Memory memory) {
        Forms forms = Forms.of(ServletPeer.options(body));
        return open(body, chunkSize, (read, stream, tally) -> {
            try (MultipartForm form = forms.read(stream, read.contentType())) {
                for (FormPart part : form.parts()) {
                    part(part.inputStream(), part.name(), part.filename(), tally);
                }
            }
        });
    }

    private static MultipartReader reader(Body body, InputStream stream) throws IOException {
        return MultipartReader.create(stream, Boundary.anyMultipart(body.contentType()), SluiceDecoding.options(body));
    }

    static void fileUpload1(Body body, InputStream stream, Tally tally) throws Exception {
        var request = request(org.apache.commons.fileupload.RequestContext.class, body, stream);
        var items = new org.apache.commons.fileupload.FileUpload().getItemIterator(request);
        while (items.hasNext()) {
            var item = items.next();
            part(item.openStream(), item.getFieldName(), item.getName(), tally);
        }
    }

    static void fileUpload2(Body body, InputStream stream, Tally tally) throws IOException {
        var request = request(org.apache.commons.fileupload2.core.RequestContext.class, body, stream);
        var items = new StreamingFileUpload2().getItemIterator(request);
        while (items.hasNext()) {
            var item = items.next();
            part(item.getInputStream(), item.getFieldName(), item.getName(), tally);
        }
    }

    static void tomcat(Body body, InputStream stream, Tally tally) throws IOException {
        var request = request(UploadContext.class, body, stream);
        var items = new org.apache.tomcat.util.http.fileupload.FileUpload().getItemIterator(request);
        while (items.hasNext()) {
            var item = items.next();
            part(item.openStream(), item.getFieldName(), item.getName(), tally);
        }
    }

    static void part(InputStream content, @Nullable String name, @Nullable String filename, Tally tally)
            throws IOException {
        try (content) {
            tally.drain(content);
        }
        tally.endPart(name, filename);
    }

    /** Creates a request for one of three libraries, whose interfaces have the same methods. */
    private static <T> T request(Class<T> type, Body body, InputStream stream) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> switch (method.getName()) {
                    case "getInputStream" -> stream;
                    case "getContentType" -> body.contentType();
                    case "getCharacterEncoding" -> "UTF-8";
                    case "isMultipartRelated" -> false;
                    case "getContentLength", "contentLength" ->
                        method.getReturnType() == int.class ? (Object) (-1) : (Object) (-1L);
                    default -> InvocationHandler.invokeDefault(proxy, method, args);
                }));
    }

    /** Gives access to the streaming API of the base class. The abstract methods are not used. */
    private static final class StreamingFileUpload2
            extends AbstractFileUpload<InputStream, DiskFileItem, DiskFileItemFactory> {
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

    /** mimepull streams parts only by number and does not report whether another part follows, so the number of parts is provided. */
    static void mimepull(Body body, InputStream stream, Tally tally) throws IOException {
        try (MIMEMessage message = new MIMEMessage(stream, body.boundary(), new MIMEConfig())) {
            if (tally.records()) {
                for (MIMEPart part : message.getAttachments()) {
                    part(part.read(), null, null, tally);
                    part.close();
                }
                return;
            }
            for (int i = 0; i < body.truth().parts(); i++) {
                MIMEPart part = message.getPart(i);
                part(part.readOnce(), null, null, tally);
                part.close();
            }
        }
    }

    static void okHttp(Body body, InputStream stream, Tally tally) throws IOException {
        try (var reader = new okhttp3.MultipartReader(Okio.buffer(Okio.source(stream)), body.boundary())) {
            for (Part part; (part = reader.nextPart()) != null; ) {
                if (tally.checks()) {
                    tally.drain(part.body().inputStream());
                } else {
                    // readAll does not copy OkHttp's segments.
                    tally.count(part.body().readAll(NOWHERE));
                }
                tally.endPart();
            }
        }
    }
}
