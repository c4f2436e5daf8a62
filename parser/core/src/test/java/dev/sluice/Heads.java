package dev.sluice;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** A factory for heads of parts whose only header is a Content-Disposition of any size. */
public final class Heads {
    static final String FIELD = "--x\r\nContent-Disposition: ";

    private Heads() {}

    public static PartHead of(String disposition) throws MultipartException {
        return of(disposition, MultipartOptions.defaults());
    }

    public static PartHead of(String disposition, MultipartOptions options) throws MultipartException {
        return of(Boundary.of("x"), disposition, options);
    }

    static PartHead outsideOfFormData(String disposition, MultipartOptions options) throws MultipartException {
        return of(Boundary.anyMultipart("multipart/mixed; boundary=x"), disposition, options);
    }

    private static PartHead of(Boundary boundary, String disposition, MultipartOptions options)
            throws MultipartException {
        byte[] body = (FIELD + disposition + "\r\n\r\n\r\n--x--").getBytes(StandardCharsets.UTF_8);
        MultipartOptions ofAnySize = options.toBuilder()
                .maxHeaderBytesPerPart(body.length)
                .unlimitedHeaderBytes()
                .build();
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, ofAnySize)) {
            decoder.feed(Unpooled.wrappedBuffer(body));
            decoder.next();
            return decoder.head();
        }
    }
}
