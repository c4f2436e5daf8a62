package dev.sluice.webflux;

import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
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

/** A reader that returns the parts of a form, as a stream or as a map by name. */
final class PartReader extends FormMessageReader<Object> {
    private static final ResolvableType BY_NAME =
            ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class, Part.class);

    /**
     * Spring's reader for other multipart bodies, used if they are not rejected. WebFlux has only one reader for maps.
     */
    private final MultipartHttpMessageReader others =
            new MultipartHttpMessageReader(new DefaultPartHttpMessageReader());

    PartReader(Forms forms, boolean rejectsOthers) {
        super(forms, rejectsOthers);
    }

    @Override
    public boolean canRead(ResolvableType elementType, @Nullable MediaType mediaType) {
        return super.canRead(elementType, mediaType) || !rejectsOthers && others.canRead(elementType, mediaType);
    }

    private static boolean isPart(ResolvableType type) {
        return type.toClass() == Part.class;
    }

    @Override
    boolean serves(ResolvableType elementType) {
        return isPart(elementType) || BY_NAME.isAssignableFrom(elementType);
    }

    @Override
    public Flux<Object> read(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        if (!isPart(type)) {
            return readMono(type, message, hints).flux();
        }
        return form(message)
                .flatMapIterable(ReceivedForm::parts)
                .doOnDiscard(ReceivedPart.class, part -> part.delete().subscribe())
                .doOnDiscard(ReceivedForm.class, ReceivedForm::dispose)
                .cast(Object.class);
    }

    @Override
    public Mono<Object> readMono(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        if (isPart(type)) {
            return super.readMono(type, message, hints);
        } else if (!rejectsOthers && !isForm(message.getHeaders().getContentType())) {
            return others.readMono(type, message, hints).cast(Object.class);
        }
        return form(message).<Object>map(PartReader::byName).doOnDiscard(ReceivedForm.class, ReceivedForm::dispose);
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
