package dev.sluice.bench.peer;

import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.webflux.SluiceWebFlux;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.codec.multipart.FilePartEvent;
import org.springframework.http.codec.multipart.PartEvent;
import org.springframework.http.codec.multipart.PartEventHttpMessageReader;
import reactor.core.publisher.Flux;

/** A reader of part events for Spring WebFlux, Spring's own or Sluice's, which receives a Flux of data buffers. */
final class SpringPeer implements Peer {
    private static final ResolvableType PART_EVENT = ResolvableType.forClass(PartEvent.class);

    private final HttpMessageReader<?> reader;
    private final MediaType contentType;
    private final int count;
    private final IntFunction<DataBuffer> chunk;
    private final Runnable closer;

    private SpringPeer(
            HttpMessageReader<?> reader, Body body, int count, IntFunction<DataBuffer> chunk, Runnable closer) {
        this.reader = reader;
        this.contentType = MediaType.parseMediaType(body.contentType());
        this.count = count;
        this.chunk = chunk;
        this.closer = closer;
    }

    static Peer onArrays(Body body, int chunkSize, Memory memory) {
        List<ByteBuffer> buffers = ByteBufferPeer.buffers(body, chunkSize, memory);
        DefaultDataBufferFactory factory = DefaultDataBufferFactory.sharedInstance;
        return new SpringPeer(
                springReader(),
                body,
                buffers.size(),
                i -> factory.wrap(buffers.get(i).clear()),
                () -> {});
    }

    static Peer onNetty(Body body, int chunkSize, Memory memory) {
        return onNetty(springReader(), body, chunkSize, memory);
    }

    static Peer ofSluice(Body body, int chunkSize, Memory memory) {
        ServerCodecConfigurer codecs = ServerCodecConfigurer.create();
        SluiceWebFlux.of(ServletPeer.options(body)).configureHttpMessageCodecs(codecs);
        MediaType contentType = MediaType.parseMediaType(body.contentType());
        HttpMessageReader<?> first = codecs.getReaders().stream()
                .filter(reader -> reader.canRead(PART_EVENT, contentType))
                .findFirst()
                .orElseThrow();
        return onNetty(first, body, chunkSize, memory);
    }

    private static Peer onNetty(HttpMessageReader<?> reader, Body body, int chunkSize, Memory memory) {
        ByteBufChunks chunks = new ByteBufChunks(body.cut(chunkSize), memory);
        NettyDataBufferFactory factory = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);
        return new SpringPeer(reader, body, chunks.count(), i -> factory.wrap(chunks.next(i)), chunks::close);
    }

    private static HttpMessageReader<?> springReader() {
        PartEventHttpMessageReader reader = new PartEventHttpMessageReader();
        reader.setMaxParts(-1);
        return reader;
    }

    @Override
    public void run(Tally tally) {
        reader.read(PART_EVENT, new Message(), Map.of())
                .doOnNext(event -> addEvent(tally, (PartEvent) event))
                .blockLast();
    }

    private static void addEvent(Tally tally, PartEvent event) {
        DataBuffer content = event.content();
        if (tally.checks()) {
            try (DataBuffer.ByteBufferIterator pieces = content.readableByteBuffers()) {
                pieces.forEachRemaining(tally::data);
            }
        } else {
            tally.count(content.readableByteCount());
        }
        DataBufferUtils.release(content);
        if (event.isLast()) {
            tally.endPart(event.name(), filename(event));
        }
    }

    private static @Nullable String filename(PartEvent event) {
        return event instanceof FilePartEvent file ? file.filename() : null;
    }

    @Override
    public void close() {
        closer.run();
    }

    private final class Message implements ReactiveHttpInputMessage {
        @Override
        public HttpHeaders getHeaders() {
            HttpHeaders headers = new HttpHeaders();
            headers.setContentType(contentType);
            return headers;
        }

        @Override
        public Flux<DataBuffer> getBody() {
            return Flux.range(0, count).map(chunk::apply);
        }
    }
}
