package dev.sluice.webflux;

import dev.sluice.form.Readiness;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.FluxSink;

/** Lets through as many events as were requested, and one more. */
final class EventGate {
    private final FluxSink<PartEvent> events;

    /** What was requested and not sent; at most 1 below. */
    private final AtomicLong credit = new AtomicLong();

    private final AtomicReference<@Nullable Readiness> closed = new AtomicReference<>();

    EventGate(FluxSink<PartEvent> events) {
        this.events = events;
        events.onRequest(this::requested);
    }

    private void requested(long count) {
        credit.updateAndGet(before -> before > Long.MAX_VALUE - count ? Long.MAX_VALUE : before + count);
        open();
    }

    private void open() {
        Readiness waiting = credit.get() > 0 ? closed.getAndSet(null) : null;
        if (waiting != null) {
            waiting.ready();
        }
    }

    /** {@return ready once another one is wanted} One thread at a time. */
    Readiness send(PartEvent event) {
        events.next(event);
        if (credit.updateAndGet(before -> before == Long.MAX_VALUE ? before : before - 1) > 0) {
            return Readiness.READY;
        }
        Readiness wanted = Readiness.pending();
        closed.set(wanted);
        open(); // what was requested meanwhile found nothing to open
        return wanted;
    }

    void complete() {
        events.complete();
    }
}
