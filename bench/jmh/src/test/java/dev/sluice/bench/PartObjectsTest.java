package dev.sluice.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;

/**
 * Tests of the objects allocated for one part, measured with JOL on a 64-bit JVM with compressed references. TUNING.md explains them.
 */
class PartObjectsTest {
    private static final String SECTION =
            "Content-Disposition: form-data; name=\"photo-01\"; filename=\"IMG_0001.jpg\"\r\n"
                    + "Content-Type: image/jpeg\r\n\r\n";

    @Test
    void requestedObjects_haveExpectedSizes() throws Exception {
        byte[] body = ("--x\r\n" + SECTION + "content").getBytes(StandardCharsets.US_ASCII);
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(PooledByteBufAllocator.DEFAULT.heapBuffer(body.length).writeBytes(body));
            assertEquals(Event.PART_BEGIN, decoder.next());
            // A String and its array for each text that the application requests.
            assertEquals(24 + 24, sizeOf(decoder.name()));
            assertEquals(24 + 32, sizeOf(decoder.filename()));
            assertEquals(24 + 32, sizeOf(decoder.contentType()));
            // Only if the application requests the head: the object and a copy of the header section.
            assertEquals(48 + sizeOf(new byte[SECTION.length()]), sizeOf(decoder.head()));
            assertEquals(Event.DATA, decoder.next());
            // Netty's slice of the chunk, one for each piece of content.
            assertEquals(
                    40,
                    ClassLayout.parseInstance(withoutLeakDetection(decoder.data()))
                            .instanceSize());
        }
    }

    /** Removes the wrapper that netty adds at level PARANOID, at which tests run. */
    private static ByteBuf withoutLeakDetection(ByteBuf data) {
        return data.getClass().getSimpleName().contains("LeakAware") ? data.unwrap() : data;
    }

    private static long sizeOf(@Nullable Object object) {
        assertNotNull(object);
        return GraphLayout.parseInstance(object).totalSize();
    }

    /** Excludes the charset, which all parts share, and the strings, which are counted separately. */
    private static long sizeOf(PartHead head) throws IllegalAccessException {
        long size = ClassLayout.parseInstance(head).instanceSize();
        for (Field field : PartHead.class.getDeclaredFields()) {
            if (field.getType() == byte[].class) {
                field.setAccessible(true);
                size += sizeOf(field.get(head));
            }
        }
        return size;
    }
}
