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

/** The base class of the readers for parts and for events. */
abstract class FormMessageReader<T> implements HttpMessageReader<T> {
    final Forms forms;
    final boolean rejectsOthers;

    /** @param rejectsOthers whether this reader also accepts other multipart types, in order to reject them */
    FormMessageReader(Forms forms, boolean rejectsOthers) {
        this.forms = forms;
        this.rejectsOthers = rejectsOthers;
    }

    /** {@return whether this reader produces elements of {@code elementType}} */
    abstract boolean serves(ResolvableType elementType);

    @Override
    public List<MediaType> getReadableMediaTypes() {
        return List.of(MediaType.MULTIPART_FORM_DATA);
    }

    @Override
    public boolean canRead(ResolvableType elementType, @Nullable MediaType mediaType) {
        return serves(elementType)
                && (isForm(mediaType)
                        || rejectsOthers
                                && mediaType != null
                                && mediaType.getType().equalsIgnoreCase("multipart"));
    }

    static boolean isForm(@Nullable MediaType mediaType) {
        return mediaType == null || MediaType.MULTIPART_FORM_DATA.isCompatibleWith(mediaType);
    }

    @Override
    public Mono<T> readMono(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        return Mono.error(new UnsupportedOperationException("a form can have several parts: read it as a Flux"));
    }
}
