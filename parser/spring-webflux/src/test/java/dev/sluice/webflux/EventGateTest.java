package dev.sluice.webflux;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.Readiness;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.Disposable;
import reactor.core.publisher.FluxSink;
import reactor.util.context.Context;

/** Tests a gate that two threads use at the same time. Lincheck runs their steps in many orders. */
class EventGateTest {
    private static final int SCHEDULES = 200;

    private record Empty(String name, HttpHeaders headers, DataBuffer content, boolean isLast) implements PartEvent {}

    private static final PartEvent EVENT =
            new Empty("a", new HttpHeaders(), DefaultDataBufferFactory.sharedInstance.allocateBuffer(0), true);

    /** A subscriber that ignores events. */
    private static final class Subscriber implements FluxSink<PartEvent> {
        LongConsumer requestListener = count -> {};

        @Override
        public FluxSink<PartEvent> next(PartEvent event) {
            return this;
        }

        @Override
        public FluxSink<PartEvent> onRequest(LongConsumer consumer) {
            requestListener = consumer;
            return this;
        }

        @Override
        public void complete() {}

        @Override
        public void error(Throwable failure) {}

        @Override
        @SuppressWarnings("deprecation") // an abstract method
        public Context currentContext() {
            return Context.empty();
        }

        @Override
        public long requestedFromDownstream() {
            return 0;
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public FluxSink<PartEvent> onCancel(Disposable cancel) {
            return this;
        }

        @Override
        public FluxSink<PartEvent> onDispose(Disposable end) {
            return this;
        }
    }

    @Test
    void requests_beyondMaximum_areUnbounded() {
        Subscriber subscriber = new Subscriber();
        EventGate gate = new EventGate(subscriber);
        subscriber.requestListener.accept(Long.MAX_VALUE - 1);
        subscriber.requestListener.accept(10);
        assertSame(Readiness.READY, gate.send(EVENT));
    }

    @Test
    void gate_closesWhenAllRequestedEventsAreSent() {
        Subscriber subscriber = new Subscriber();
        EventGate gate = new EventGate(subscriber);
        subscriber.requestListener.accept(2);
        assertSame(Readiness.READY, gate.send(EVENT));
        Readiness second = gate.send(EVENT);
        assertFalse(second.isReady(), "a third event could be sent");
        subscriber.requestListener.accept(1);
        assertTrue(second.isReady());
    }

    @Test
    void request_duringSend_opensTheGate() {
        Lincheck.runConcurrentTest(SCHEDULES, () -> {
            Subscriber subscriber = new Subscriber();
            EventGate gate = new EventGate(subscriber);
            subscriber.requestListener.accept(1);
            AtomicReference<Readiness> readiness = new AtomicReference<>();
            Thread sending = new Thread(() -> readiness.set(gate.send(EVENT)));
            Thread requesting = new Thread(() -> subscriber.requestListener.accept(1));
            sending.start();
            requesting.start();
            try {
                sending.join();
                requesting.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (!readiness.get().isReady()) {
                throw new AssertionError("the second event was requested, but the gate is still closed");
            }
        });
    }
}
