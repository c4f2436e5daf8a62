package dev.sluice.webflux;

import dev.sluice.form.Forms;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.HttpMessageReader;
import reactor.core.publisher.Mono;

/** What both readers have in common. */
abstract class FormMessageReader<T> implements HttpMessageReader<T> {
    final Forms forms;
    final boolean takesAll;

    /** @param takesAll whether other multipart bodies come here too, to be refused */
    FormMessageReader(Forms forms, boolean takesAll) {
        this.forms = forms;
        this.takesAll = takesAll;
    }

    /** {@return whether this reader reads such elements} */
    abstract boolean serves(ResolvableType elementType);

    @Override
    public List<MediaType> getReadableMediaTypes() {
        return List.of(MediaType.MULTIPART_FORM_DATA);
    }

    @Override
    public boolean canRead(ResolvableType elementType, @Nullable MediaType mediaType) {
        return serves(elementType)
                && (isForm(mediaType)
                        || takesAll && mediaType != null && mediaType.getType().equalsIgnoreCase("multipart"));
    }

    static boolean isForm(@Nullable MediaType mediaType) {
        return mediaType == null || MediaType.MULTIPART_FORM_DATA.isCompatibleWith(mediaType);
    }

    @Override
    public Mono<T> readMono(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        return Mono.error(new UnsupportedOperationException("a form has more than one part: take a Flux of them"));
    }
}
