package dev.sluice.webflux;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.PartDecision;
import java.util.Map;
import org.springframework.core.ResolvableType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A reader that emits the events of a form as its bytes arrive. */
final class PartEventReader extends FormMessageReader<PartEvent> {
    /** Runs each task on the calling thread, or on the thread that is running an earlier task of the same worker. */
    private static final Scheduler CALLER = Schedulers.fromExecutor(Runnable::run, true);

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
            BodySource source =
                    new BodySource(forms, options, message, CALLER.createWorker()::schedule, events.contextView());
            events.onDispose(source);
            SluiceWebFlux.endWithRequest(events.contextView(), source);
            source.start(
                    form -> {
                        form.close();
                        events.complete();
                    },
                    failure -> events.error(Rejections.toSpringException(failure)));
        });
    }
}
