package dev.sluice.bench.jmh;

import com.github.mizosoft.methanol.MediaType;
import com.github.mizosoft.methanol.MultipartBodyPublisher;
import dev.sluice.BodyChunks;
import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.MultipartEncoder;
import dev.sluice.bench.peer.Named;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.HttpPostRequestEncoder;
import io.netty.handler.codec.http.multipart.MemoryFileUpload;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Flow;
import okhttp3.RequestBody;
import okio.BufferedSink;
import okio.Okio;
import org.apache.hc.client5.http.entity.mime.MultipartEntityBuilder;
import org.apache.hc.core5.http.ContentType;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.FileSystemResource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.converter.FormHttpMessageConverter;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/** A library that writes forms. Each library creates the form from its parts, and writes it to a stream. */
enum FormWriter implements Named {
    SLUICE("Sluice, MultipartBody") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartBody body = body(parts);
            body.writeTo(out);
            return body.contentType();
        }
    },
    SLUICE_CHUNKS("Sluice, MultipartBody in buffers") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartBody body = body(parts);
            try (BodyChunks chunks = body.chunks(PooledByteBufAllocator.DEFAULT)) {
                for (ByteBuf chunk; (chunk = chunks.next()) != null; ) {
                    copy(chunk, out);
                }
            }
            return body.contentType();
        }
    },
    SLUICE_PUBLISHER("Sluice, publisher") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartBody body = body(parts);
            copy(body.publisher(), out);
            return body.contentType();
        }
    },
    SLUICE_ENCODER("Sluice, MultipartEncoder") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartEncoder encoder = MultipartEncoder.create();
            for (Part part : parts) {
                copy(encoder.beginPart(part.name, part.filename, part.type), out);
                copy(encoder.write(Unpooled.wrappedBuffer(part.bytes())), out);
            }
            copy(encoder.finish(), out);
            return encoder.contentType();
        }
    },
    OKHTTP("OkHttp") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            okhttp3.MultipartBody.Builder builder =
                    new okhttp3.MultipartBody.Builder().setType(okhttp3.MultipartBody.FORM);
            for (Part part : parts) {
                okhttp3.MediaType type = part.type == null ? null : okhttp3.MediaType.get(part.type);
                if (part.filename == null) {
                    builder.addFormDataPart(part.name, part.text);
                } else if (part.file != null) {
                    builder.addFormDataPart(part.name, part.filename, RequestBody.create(part.file.toFile(), type));
                } else {
                    builder.addFormDataPart(part.name, part.filename, RequestBody.create(part.content, type));
                }
            }
            okhttp3.MultipartBody body = builder.build();
            try (BufferedSink sink = Okio.buffer(Okio.sink(out))) {
                body.writeTo(sink);
            }
            return body.contentType().toString();
        }
    },
    HTTPCLIENT5("HttpClient 5") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartEntityBuilder builder = MultipartEntityBuilder.create();
            for (Part part : parts) {
                if (part.filename == null) {
                    builder.addTextBody(part.name, part.text);
                } else if (part.file != null) {
                    builder.addBinaryBody(part.name, part.file.toFile(), ContentType.create(part.type), part.filename);
                } else {
                    builder.addBinaryBody(part.name, part.content, ContentType.create(part.type), part.filename);
                }
            }
            org.apache.hc.core5.http.HttpEntity entity = builder.build();
            entity.writeTo(out);
            return entity.getContentType();
        }
    },
    NETTY("Netty 4.2, HttpPostRequestEncoder") {
        @Override
        String write(List<Part> parts, OutputStream out) throws Exception {
            HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
            // For files, this is Netty's default. Without a disk, the encoder reads all of a file before it sends
            // anything.
            DefaultHttpDataFactory factory = parts.stream().anyMatch(part -> part.file != null)
                    ? new DefaultHttpDataFactory(DefaultHttpDataFactory.MINSIZE)
                    : new DefaultHttpDataFactory(false);
            HttpPostRequestEncoder encoder = new HttpPostRequestEncoder(factory, request, true);
            try {
                for (Part part : parts) {
                    if (part.filename == null) {
                        encoder.addBodyAttribute(part.name, part.text);
                    } else if (part.file != null) {
                        encoder.addBodyFileUpload(part.name, part.filename, part.file.toFile(), part.type, false);
                    } else {
                        MemoryFileUpload upload = new MemoryFileUpload(
                                part.name, part.filename, part.type, null, null, part.content.length);
                        upload.setContent(Unpooled.wrappedBuffer(part.content));
                        encoder.addBodyHttpData(upload);
                    }
                }
                HttpRequest first = encoder.finalizeRequest();
                if (first instanceof HttpContent whole) {
                    copy(whole.content(), out);
                } else {
                    while (!encoder.isEndOfInput()) {
                        copy(encoder.readChunk(PooledByteBufAllocator.DEFAULT).content(), out);
                    }
                }
                return request.headers().get("content-type");
            } finally {
                encoder.cleanFiles();
            }
        }
    },
    SPRING("Spring, FormHttpMessageConverter") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultiValueMap<String, Object> form = new LinkedMultiValueMap<>();
            for (Part part : parts) {
                HttpHeaders headers = new HttpHeaders();
                if (part.type != null) {
                    headers.set(HttpHeaders.CONTENT_TYPE, part.type);
                }
                form.add(
                        part.name,
                        part.filename == null
                                ? part.text
                                : new org.springframework.http.HttpEntity<>(part.resource(), headers));
            }
            HttpHeaders headers = new HttpHeaders();
            CONVERTER.write(form, org.springframework.http.MediaType.MULTIPART_FORM_DATA, new HttpOutputMessage() {
                @Override
                public OutputStream getBody() {
                    return out;
                }

                @Override
                public HttpHeaders getHeaders() {
                    return headers;
                }
            });
            return headers.getFirst(HttpHeaders.CONTENT_TYPE);
        }
    },
    METHANOL("Methanol") {
        @Override
        String write(List<Part> parts, OutputStream out) throws IOException {
            MultipartBodyPublisher.Builder builder = MultipartBodyPublisher.newBuilder();
            for (Part part : parts) {
                if (part.filename == null) {
                    builder.textPart(part.name, part.text);
                } else if (part.file != null) {
                    builder.filePart(part.name, part.file, MediaType.parse(part.type));
                } else {
                    builder.formPart(
                            part.name,
                            part.filename,
                            com.github.mizosoft.methanol.MoreBodyPublishers.ofMediaType(
                                    BodyPublishers.ofByteArray(part.content), MediaType.parse(part.type)));
                }
            }
            MultipartBodyPublisher body = builder.build();
            copy(body, out);
            return body.mediaType().toString();
        }
    },
    /** Writes only the bytes of the content, as a lower bound. */
    BYTES("only the content") {
        @Override
        @Nullable
        String write(List<Part> parts, OutputStream out) throws IOException {
            for (Part part : parts) {
                if (part.file != null) {
                    Files.copy(part.file, out);
                } else {
                    out.write(part.bytes());
                }
            }
            return null;
        }
    };

    private static final FormHttpMessageConverter CONVERTER = new FormHttpMessageConverter();

    /**
     * A part of a form to write.
     *
     * @param text the content of a field
     * @param content the content of a file in memory
     */
    record Part(
            String name,
            @Nullable String filename,
            @Nullable String type,
            @Nullable String text,
            byte @Nullable [] content,
            @Nullable Path file) {
        byte[] bytes() throws IOException {
            return text != null
                    ? text.getBytes(StandardCharsets.UTF_8)
                    : file != null ? Files.readAllBytes(file) : content;
        }

        org.springframework.core.io.Resource resource() throws FileNotFoundException {
            return file != null
                    ? new FileSystemResource(file)
                    : new ByteArrayResource(content) {
                        @Override
                        public String getFilename() {
                            return filename;
                        }
                    };
        }
    }

    final String title;

    FormWriter(String title) {
        this.title = title;
    }

    static FormWriter of(String id) {
        return Named.of(FormWriter.class, id);
    }

    /** Creates a form and writes it. Returns its Content-Type. */
    abstract @Nullable String write(List<Part> parts, OutputStream out) throws Exception;

    private static MultipartBody body(List<Part> parts) throws IOException {
        MultipartBody.Builder builder = MultipartBody.builder();
        for (Part part : parts) {
            if (part.filename == null) {
                builder.field(part.name, part.text);
            } else {
                Content content = part.file != null ? Content.of(part.file) : Content.of(part.content);
                builder.file(part.name, part.filename, part.type, content);
            }
        }
        return builder.build();
    }

    private static void copy(ByteBuf bytes, OutputStream out) throws IOException {
        bytes.readBytes(out, bytes.readableBytes()).release();
    }

    /** Copies what a publisher delivers on this or another thread. */
    private static void copy(BodyPublisher body, OutputStream out) {
        java.util.concurrent.CompletableFuture<Void> done = new java.util.concurrent.CompletableFuture<>();
        body.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(ByteBuffer chunk) {
                try {
                    if (chunk.hasArray()) {
                        out.write(chunk.array(), chunk.arrayOffset() + chunk.position(), chunk.remaining());
                    } else {
                        byte[] copy = new byte[chunk.remaining()];
                        chunk.get(copy);
                        out.write(copy);
                    }
                } catch (IOException e) {
                    done.completeExceptionally(e);
                }
            }

            @Override
            public void onError(Throwable failure) {
                done.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                done.complete(null);
            }
        });
        done.join();
    }
}
