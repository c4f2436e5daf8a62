package dev.sluice.samples.upload.readme;

import dev.sluice.FormRelay;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Iterator;
import java.util.function.Consumer;

/** Forwards a form without its passwords. */
final class RelayForm {
    private RelayForm() {}

    /** {@return the Content-Type of the forwarded form} */
    static String relay(String contentType, Iterator<ByteBuf> in, Consumer<ByteBuf> out) throws IOException {
        // @start region="relay"
        FormRelay.Rule rule =
                head -> head.name().equals("password") ? null : FormRelay.Part.of(head); // null removes the part
        MultipartOptions options = MultipartOptions.defaults();
        try (FormRelay relay = FormRelay.create(contentType, options, NameEscaping.REPLACE, rule)) {
            while (in.hasNext()) {
                relay.feed(in.next());
                for (ByteBuf bytes; (bytes = relay.next()) != null; ) {
                    out.accept(bytes);
                }
            }
            relay.finish();
            for (ByteBuf bytes; (bytes = relay.next()) != null; ) {
                out.accept(bytes);
            }
            return relay.contentType();
        }
        // @end
    }
}
