package dev.sluice.webflux;

import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.multipart.DefaultPartHttpMessageReader;
import org.springframework.http.codec.multipart.MultipartHttpMessageReader;
import org.springframework.http.codec.multipart.Part;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A reader that returns the parts of a form, as a stream or as a map by name. Other multipart bodies are rejected, or left to the
 * superclass, because WebFlux has only one reader for maps. The superclass has a reader of its own for parts, to which Spring applies the
 * limits that the application has configured.
 */
final class PartReader extends MultipartHttpMessageReader {
    private static final ResolvableType BY_NAME =
            ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class, Part.class);

    private final Forms forms;
    private final boolean rejectsOthers;

    /** @param rejectsOthers whether this reader also accepts other multipart types, in order to reject them */
    PartReader(Forms forms, boolean rejectsOthers) {
        super(new DefaultPartHttpMessageReader());
        this.forms = forms;
        this.rejectsOthers = rejectsOthers;
    }

    /** {@return whether a reader of forms accepts this type} */
    static boolean accepts(@Nullable MediaType mediaType, boolean rejectsOthers) {
        return mediaType == null
                || MediaType.MULTIPART_FORM_DATA.isCompatibleWith(mediaType)
                || rejectsOthers && mediaType.getType().equalsIgnoreCase("multipart");
    }

    static <T> Mono<T> cannotReadOne() {
        return Mono.error(new UnsupportedOperationException("a form can have several parts: read it as a Flux"));
    }

    @Override
    public List<MediaType> getReadableMediaTypes() {
        return rejectsOthers ? List.of(MediaType.MULTIPART_FORM_DATA) : super.getReadableMediaTypes();
    }

    @Override
    public boolean canRead(ResolvableType elementType, @Nullable MediaType mediaType) {
        return accepts(mediaType, rejectsOthers)
                ? isPart(elementType) || BY_NAME.isAssignableFrom(elementType)
                : super.canRead(elementType, mediaType);
    }

    private static boolean isPart(ResolvableType type) {
        return type.toClass() == Part.class;
    }

    /** {@return the elements, which are parts if {@code type} is {@code Part}} */
    @Override
    @SuppressWarnings("unchecked")
    public Flux<MultiValueMap<String, Part>> read(
            ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        if (!isPart(type)) {
            return readMono(type, message, hints).flux();
        }
        Flux<?> parts = form(message)
                .flatMapIterable(ReceivedForm::parts)
                .doOnDiscard(ReceivedPart.class, part -> part.delete().subscribe())
                .doOnDiscard(ReceivedForm.class, ReceivedForm::dispose);
        return (Flux<MultiValueMap<String, Part>>) parts;
    }

    @Override
    public Mono<MultiValueMap<String, Part>> readMono(
            ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        if (isPart(type)) {
            return cannotReadOne();
        } else if (!accepts(message.getHeaders().getContentType(), rejectsOthers)) {
            return super.readMono(type, message, hints);
        }
        return form(message).map(PartReader::byName).doOnDiscard(ReceivedForm.class, ReceivedForm::dispose);
    }

    private static MultiValueMap<String, Part> byName(ReceivedForm form) {
        MultiValueMap<String, Part> parts =
                new LinkedMultiValueMap<>(form.parts().size());
        form.parts().forEach(part -> parts.add(part.name(), part));
        return parts;
    }

    private Mono<ReceivedForm> form(ReactiveHttpInputMessage message) {
        return SluiceWebFlux.receive(forms, message, forms.options(), PartReader::emit);
    }

    private static void emit(MultipartForm received, MonoSink<ReceivedForm> sink) {
        ReceivedForm form;
        try {
            form = new ReceivedForm(received);
        } catch (IOException | RuntimeException | Error e) {
            received.close();
            sink.error(Rejections.toSpringException(e));
            return;
        }
        SluiceWebFlux.endWithRequest(sink.contextView(), form);
        sink.success(form);
    }
}
