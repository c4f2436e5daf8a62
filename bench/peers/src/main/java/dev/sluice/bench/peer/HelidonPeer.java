package dev.sluice.bench.peer;

import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Helidon's blocking reader. Its class files require Java 21, so it is called by reflection:
 * one call for each body, three for each part, and none for content.
 */
final class HelidonPeer {
    private static final String MEDIA = "io.helidon.http.media.";

    private HelidonPeer() {}

    /** Shared by all bodies, because it is created with a service lookup that takes far longer than reading a small body. */
    private static final class Support {
        static final Object MEDIA_SUPPORT = create();

        private static Object create() {
            try {
                Class<?> config = Class.forName("io.helidon.common.config.Config");
                Class<?> context = Class.forName(MEDIA + "MediaContext");
                Class<?> support = Class.forName(MEDIA + "multipart.MultiPartSupport");
                Object empty = config.getMethod("empty").invoke(null);
                Object media = support.getMethod("create", config).invoke(null, empty);
                support.getMethod("init", context)
                        .invoke(media, context.getMethod("create").invoke(null));
                return media;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static Peer open(Body body, int chunkSize, Memory memory) {
        try {
            Class<?> headersType = Class.forName("io.helidon.http.Headers");
            Class<?> genericType = Class.forName("io.helidon.common.GenericType");
            Class<?> part = Class.forName(MEDIA + "multipart.ReadablePart");
            Object headers = headersOf(body.contentType());
            Object type = constant(MEDIA + "multipart.MultiPart", "GENERIC_TYPE");
            Object support = Support.MEDIA_SUPPORT;
            Object response = support.getClass()
                    .getMethod("reader", genericType, headersType)
                    .invoke(support, type, headers);
            Object reader =
                    ((Supplier<?>) response.getClass().getMethod("supplier").invoke(response)).get();
            Method read = Class.forName(MEDIA + "EntityReader")
                    .getMethod("read", genericType, InputStream.class, headersType);
            Method inputStream = Class.forName(MEDIA + "ReadableEntity").getMethod("inputStream");
            Method name = part.getMethod("name");
            Method fileName = part.getMethod("fileName");
            return StreamPeer.open(body, chunkSize, (same, stream, tally) -> {
                Iterator<?> parts = (Iterator<?>) read.invoke(reader, type, stream, headers);
                while (parts.hasNext()) {
                    Object each = parts.next();
                    tally.drain((InputStream) inputStream.invoke(each));
                    Optional<?> filename = (Optional<?>) fileName.invoke(each);
                    tally.endPart((String) name.invoke(each), (String) filename.orElse(null));
                }
            });
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object headersOf(String contentType) throws ReflectiveOperationException {
        Class<?> writable = Class.forName("io.helidon.http.WritableHeaders");
        Object made = writable.getMethod("create").invoke(null);
        writable.getMethod("set", Class.forName("io.helidon.http.HeaderName"), String[].class)
                .invoke(made, constant("io.helidon.http.HeaderNames", "CONTENT_TYPE"), new String[] {contentType});
        return made;
    }

    private static Object constant(String type, String name) throws ReflectiveOperationException {
        return Class.forName(type).getField(name).get(null);
    }
}
