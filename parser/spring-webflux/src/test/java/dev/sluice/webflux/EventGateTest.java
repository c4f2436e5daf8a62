package dev.sluice.webflux;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.Readiness;
import dev.sluice.testkit.Nothing;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.FluxSink;

/** Tests a gate that two threads use at the same time. Lincheck runs their steps in many orders. */
class EventGateTest {
    private static final int SCHEDULES = 200;

    private static final PartEvent EVENT = Nothing.of(PartEvent.class);

    /** A subscriber that ignores events. */
    private static final class Subscriber {
        private LongConsumer requestListener = count -> {};

        @SuppressWarnings("unchecked")
        FluxSink<PartEvent> sink() {
            return (FluxSink<PartEvent>) Proxy.newProxyInstance(
                    FluxSink.class.getClassLoader(),
                    new Class<?>[] {FluxSink.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "onRequest" -> {
                            requestListener = (LongConsumer) arguments[0];
                            yield proxy;
                        }
                        case "next" -> proxy;
                        case "equals" -> proxy == arguments[0]; // called by Lincheck, like hashCode
                        case "hashCode" -> System.identityHashCode(proxy);
                        default -> throw new UnsupportedOperationException(method.getName());
                    });
        }
    }

    @Test
    void requests_beyondMaximum_areUnbounded() {
        Subscriber subscriber = new Subscriber();
        EventGate gate = new EventGate(subscriber.sink());
        subscriber.requestListener.accept(Long.MAX_VALUE - 1);
        subscriber.requestListener.accept(10);
        assertSame(Readiness.READY, gate.send(EVENT));
    }

    @Test
    void gate_closesWhenAllRequestedEventsAreSent() {
        Subscriber subscriber = new Subscriber();
        EventGate gate = new EventGate(subscriber.sink());
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
            EventGate gate = new EventGate(subscriber.sink());
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
