package dev.sluice.bench.peer;

import dev.sluice.Setting;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Nothing;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sluice's servlet filter and a servlet that reads all parts, without a container. */
final class ServletPeer implements Peer {
    private static final int MEMORY = 512 << 20;
    private static final int MANY_FILES = 100_000;
    private static final HttpServletResponse RESPONSE = Nothing.of(HttpServletResponse.class);

    private final Body body;
    private final Body.ChunkedStream stream;
    private final SluiceFilter filter;
    private final boolean streaming;

    /** @param streaming true if the servlet reads parts as they arrive, false if the form is kept in memory */
    static Peer.Opener of(boolean streaming) {
        return (body, chunkSize, memory) -> new ServletPeer(body, chunkSize, streaming);
    }

    private ServletPeer(Body body, int chunkSize, boolean streaming) {
        this.body = body;
        this.streaming = streaming;
        this.stream = body.stream(chunkSize);
        this.filter = SluiceFilter.of(options(body));
        try {
            filter.init(Nothing.of(FilterConfig.class));
        } catch (ServletException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns options for forms of up to 64 MiB that are kept in memory. */
    static FormOptions options(Body body) {
        return FormOptions.inMemory(MemoryBudget.of(MEMORY), SluiceDecoding.options(body))
                .maxInMemoryBytes(MEMORY)
                .maxBodyBytes(Setting.MAX_BODY_BYTES.formDefault())
                .maxFiles(MANY_FILES)
                .build();
    }

    @Override
    public void run(Tally tally) throws IOException, ServletException {
        stream.rewind();
        filter.doFilter(new Request(body.contentType(), stream), RESPONSE, (request, response) -> {
            HttpServletRequest filtered = (HttpServletRequest) request;
            if (streaming) {
                StreamPeer.addParts(MultipartRequests.reader(filtered), tally);
            } else {
                for (Part part : filtered.getParts()) {
                    StreamPeer.part(part.getInputStream(), part.getName(), part.getSubmittedFileName(), tally);
                }
            }
        });
    }

    @Override
    public void close() {
        filter.destroy();
    }

    /** A request with the methods that the filter needs. */
    private static final class Request extends HttpServletRequestWrapper {
        private static final HttpServletRequest REST = Nothing.of(HttpServletRequest.class);

        private final String contentType;
        private final Bytes bytes;
        private final Map<String, Object> attributes = new HashMap<>();

        Request(String contentType, Body.ChunkedStream stream) {
            super(REST);
            this.contentType = contentType;
            this.bytes = new Bytes(stream);
        }

        @Override
        public String getMethod() {
            return "POST";
        }

        @Override
        public String getProtocol() {
            return "HTTP/1.1";
        }

        @Override
        public DispatcherType getDispatcherType() {
            return DispatcherType.REQUEST;
        }

        @Override
        public String getContentType() {
            return contentType;
        }

        @Override
        public long getContentLengthLong() {
            return -1;
        }

        @Override
        public ServletInputStream getInputStream() {
            return bytes;
        }

        @Override
        public @Nullable Object getAttribute(String name) {
            return attributes.get(name);
        }

        @Override
        public void setAttribute(String name, Object value) {
            attributes.put(name, value);
        }

        @Override
        public void removeAttribute(String name) {
            attributes.remove(name);
        }
    }

    private static final class Bytes extends ServletInputStream {
        private final Body.ChunkedStream stream;
        private boolean finished;

        Bytes(Body.ChunkedStream stream) {
            this.stream = stream;
        }

        @Override
        public int read() {
            int b = stream.read();
            finished = b < 0;
            return b;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int count = stream.read(target, offset, length);
            finished = count < 0;
            return count;
        }

        /** Returns the size of the data that has arrived, as in Jetty and Undertow. */
        @Override
        public int available() {
            return stream.available();
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("Only blocking reads are supported");
        }
    }
}
