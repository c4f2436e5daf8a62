package dev.sluice.webflux;

import dev.sluice.form.Readiness;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.FluxSink;

/**
 * A gate between a sender of events and their subscriber. It stops the sender once all requested events have
 * been sent. Only the first event needs no request.
 */
final class EventGate {
    private final FluxSink<PartEvent> events;

    /** The number of events that are requested but not sent; -1 if one was sent ahead. */
    private final AtomicLong credit = new AtomicLong();

    private final AtomicReference<@Nullable Readiness> pendingReadiness = new AtomicReference<>();

    EventGate(FluxSink<PartEvent> events) {
        this.events = events;
        events.onRequest(this::addRequested);
    }

    private void addRequested(long count) {
        credit.updateAndGet(before -> before > Long.MAX_VALUE - count ? Long.MAX_VALUE : before + count);
        resumeSender();
    }

    private void resumeSender() {
        Readiness readiness = credit.get() > 0 ? pendingReadiness.getAndSet(null) : null;
        if (readiness != null) {
            readiness.ready();
        }
    }

    /**
     * Sends an event. Must not be called by two threads at the same time.
     *
     * @return a readiness that becomes ready when the next event is requested
     */
    Readiness send(PartEvent event) {
        events.next(event);
        if (credit.updateAndGet(before -> before == Long.MAX_VALUE ? before : before - 1) > 0) {
            return Readiness.READY;
        }
        Readiness readiness = Readiness.pending();
        pendingReadiness.set(readiness);
        resumeSender(); // a request between the check and this line has found no readiness to resume
        return readiness;
    }
}
