package dev.sluice.webflux;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import java.util.Map;
import org.springframework.core.ResolvableType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.Flux;

/** A reader that emits the events of a form as its bytes arrive. */
final class PartEventReader extends FormMessageReader<PartEvent> {
    PartEventReader(Forms forms, boolean rejectsOthers) {
        super(forms, rejectsOthers);
    }

    @Override
    boolean serves(ResolvableType elementType) {
        return elementType.toClass() == PartEvent.class;
    }

    @Override
    public Flux<PartEvent> read(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        return Flux.create(events -> {
            EventGate gate = new EventGate(events);
            FormOptions options = forms.options().toBuilder()
                    .decider(head -> PartDecision.to(new EventSink(
                            head,
                            forms.options().multipart().maxFieldBytes(),
                            forms.options().memory().open(),
                            gate)))
                    .build();
            BodySource source = new BodySource(message, null, events.contextView());
            events.onDispose(source);
            SluiceWebFlux.endWithRequest(events.contextView(), source);
            source.start(
                    forms,
                    options,
                    form -> complete(form, gate),
                    failure -> events.error(Rejections.toSpringException(failure)));
        });
    }

    private static void complete(MultipartForm form, EventGate gate) {
        form.close();
        gate.complete();
    }
}
