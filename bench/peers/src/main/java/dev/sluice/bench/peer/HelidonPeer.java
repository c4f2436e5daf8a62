package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Helidon's blocking reader. Its class files need Java 21, so it is called by reflection: two calls for the body, three for
 * each part, none for content.
 */
final class HelidonPeer implements Peer {

    private static final String MEDIA = "io.helidon.http.media.";

    private final Body.ChunkedStream stream;
    private final Object reader;
    private final Method read;
    private final Object type;
    private final Object headers;
    private final Method inputStream;
    private final Method name;
    private final Method fileName;

    /** One for all bodies: it looks for services, which takes far longer than a small body. */
    private static final class Support {

        static final Object MEDIA_SUPPORT = create();

        private static Object create() {
            try {
                Class<?> support = Class.forName(MEDIA + "multipart.MultiPartSupport");
                Class<?> config = Class.forName("io.helidon.common.config.Config");
                Object media = support.getMethod("create", config)
                        .invoke(null, config.getMethod("empty").invoke(null));
                Class<?> context = Class.forName(MEDIA + "MediaContext");
                support.getMethod("init", context)
                        .invoke(media, context.getMethod("create").invoke(null));
                return media;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private HelidonPeer(Body body, int chunkSize) throws ReflectiveOperationException {
        stream = body.stream(chunkSize);
        Class<?> headersType = Class.forName("io.helidon.http.Headers");
        Class<?> genericType = Class.forName("io.helidon.common.GenericType");
        Class<?> support = Class.forName(MEDIA + "multipart.MultiPartSupport");
        Class<?> part = Class.forName(MEDIA + "multipart.ReadablePart");

        headers = headersOf(body.contentType());
        type = Class.forName(MEDIA + "multipart.MultiPart")
                .getField("GENERIC_TYPE")
                .get(null);
        Object response =
                support.getMethod("reader", genericType, headersType).invoke(Support.MEDIA_SUPPORT, type, headers);
        Supplier<?> supplier =
                (Supplier<?>) response.getClass().getMethod("supplier").invoke(response);
        reader = supplier.get();
        read = Class.forName(MEDIA + "EntityReader").getMethod("read", genericType, InputStream.class, headersType);
        inputStream = Class.forName(MEDIA + "ReadableEntity").getMethod("inputStream");
        name = part.getMethod("name");
        fileName = part.getMethod("fileName");
    }

    static Peer open(Body body, int chunkSize, Memory memory) {
        try {
            return new HelidonPeer(body, chunkSize);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object headersOf(String contentType) throws ReflectiveOperationException {
        Class<?> writable = Class.forName("io.helidon.http.WritableHeaders");
        Class<?> headerName = Class.forName("io.helidon.http.HeaderName");
        Object contentTypeName = Class.forName("io.helidon.http.HeaderNames")
                .getField("CONTENT_TYPE")
                .get(null);
        Object made = writable.getMethod("create").invoke(null);
        writable.getMethod("set", headerName, String[].class).invoke(made, contentTypeName, new String[] {contentType});
        return made;
    }

    @Override
    public void run(Tally tally) throws Exception {
        stream.rewind();
        Iterator<?> parts = (Iterator<?>) read.invoke(reader, type, stream, headers);
        while (parts.hasNext()) {
            Object part = parts.next();
            tally.drain((InputStream) inputStream.invoke(part));
            Optional<?> filename = (Optional<?>) fileName.invoke(part);
            tally.endPart((String) name.invoke(part), (String) filename.orElse(null));
        }
    }
}
