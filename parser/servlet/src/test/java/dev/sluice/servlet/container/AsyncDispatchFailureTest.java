package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Asynchronous dispatches in which an outer filter throws or waits. Jetty reports such an exception to no listener. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class AsyncDispatchFailureTest extends AppTestBase {
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.bin", TestForm.noise(20_000, 3));

    private void assertNothingLeft(ServletContainer kind, boolean worker) throws Exception {
        CompletableFuture<DispatcherType> failed = new CompletableFuture<>();
        app.options(options -> options.spillThreshold(0));
        app.before((request, response, chain) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                failed.complete(request.getDispatcherType());
                throw new ServletException("thrown by an outer filter");
            }
            chain.doFilter(request, response);
        });
        app.on((request, response) -> {
            assertEquals(2, request.getParts().size());
            AsyncContext context = request.startAsync(request, response); // as Spring MVC does
            context.setTimeout(0);
            Runnable work = () -> {
                try {
                    response.flushBuffer();
                } catch (IOException e) {
                    app.thrown().add(e);
                }
                context.dispatch();
            };
            if (worker) {
                context.start(work);
            } else {
                work.run();
            }
        });
        app.start(kind);
        try (RawHttp connection = app.connect().send(FORM.post("/"))) {
            failed.get(20, TimeUnit.SECONDS);
            app.assertNothingLeft(connection);
        }
    }

    @ParameterizedTest
    @EnumSource
    void asyncDispatch_outerFilterFailsAfterCommit_leavesNothing(ServletContainer kind) throws Exception {
        assertNothingLeft(kind, false);
    }

    @ParameterizedTest
    @EnumSource
    void asyncDispatchOfWorker_outerFilterFailsAfterCommit_leavesNothing(ServletContainer kind) throws Exception {
        assertNothingLeft(kind, true);
    }

    /** The outer filter takes longer than the grace period. */
    @ParameterizedTest
    @EnumSource
    void asyncDispatch_slowOuterFilter_keepsForm(ServletContainer kind) throws Exception {
        app.options(options -> options.spillThreshold(0));
        app.before((request, response, chain) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                Eventually.after(5_500);
            }
            chain.doFilter(request, response);
        });
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getWriter().print(request.getPart("f").getInputStream().readAllBytes().length);
            } else {
                request.getParts();
                request.startAsync().dispatch();
            }
        });
        app.start(kind);
        assertEquals("20000", app.post("/", FORM).body());
    }
}
