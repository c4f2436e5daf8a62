package dev.sluice.webflux;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.PartDecision;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A reader that emits the events of a form as its bytes arrive. */
final class PartEventReader implements HttpMessageReader<PartEvent> {
    /** Runs each task on the calling thread, or on the thread that is running an earlier task of the same worker. */
    private static final Scheduler CALLER = Schedulers.fromExecutor(Runnable::run, true);

    private final Forms forms;
    private final boolean rejectsOthers;

    PartEventReader(Forms forms, boolean rejectsOthers) {
        this.forms = forms;
        this.rejectsOthers = rejectsOthers;
    }

    @Override
    public List<MediaType> getReadableMediaTypes() {
        return List.of(MediaType.MULTIPART_FORM_DATA);
    }

    @Override
    public boolean canRead(ResolvableType elementType, @Nullable MediaType mediaType) {
        return elementType.toClass() == PartEvent.class && PartReader.accepts(mediaType, rejectsOthers);
    }

    @Override
    public Mono<PartEvent> readMono(ResolvableType type, ReactiveHttpInputMessage message, Map<String, Object> hints) {
        return PartReader.cannotReadOne();
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
