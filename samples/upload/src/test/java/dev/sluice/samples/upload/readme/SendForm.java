package dev.sluice.samples.upload.readme;

import dev.sluice.MultipartEncoder;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Iterator;
import java.util.function.Consumer;

/** Writes forms. */
final class SendForm {
    private SendForm() {}

    /** {@return the Content-Type of the form} */
    static String encode(Iterator<ByteBuf> photo, Consumer<ByteBuf> out) throws IOException {
        // @start region="encode"
        MultipartEncoder encoder = MultipartEncoder.create();
        out.accept(encoder.beginPart("photo", "photo.jpg", "image/jpeg"));
        while (photo.hasNext()) {
            out.accept(encoder.write(photo.next())); // the same buffer
        }
        out.accept(encoder.finish());
        // @end
        return encoder.contentType();
    }
}
