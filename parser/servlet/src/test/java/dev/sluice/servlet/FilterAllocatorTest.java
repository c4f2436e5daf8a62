package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartReader;
import dev.sluice.servlet.container.App;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.FailingAllocator;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests in which one allocation fails, for each allocation in turn. The response is 500, the application never gets
 * all parts, and nothing is left.
 */
@Timeout(300)
class FilterAllocatorTest extends AppTestBase {
    private static final int PARTS = 5;
    private static final TestForm FORM = new TestForm()
            .field("a", "1")
            .field("b".repeat(3000), "2".repeat(20_000))
            .file("f", "f.txt", new byte[200_000])
            .file("g", "g.txt", new byte[30_000])
            .field("z", "3");

    /** The number of parts that the application received. */
    private final AtomicInteger seen = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/form", "/reader", "/receive"})
    void failingAllocation_isAnsweredWith500(String api) throws Exception {
        app.on("/parts", (request, response) -> seen.set(request.getParts().size()))
                .on(
                        "/form",
                        (request, response) ->
                                seen.set(MultipartRequests.form(request).parts().size()))
                .on("/reader", (request, response) -> read(request))
                .on(
                        "/receive",
                        (request, response) -> App.receive(
                                request, response, form -> seen.set(form.parts().size())))
                .startForMany();
        FailingAllocator enough = next(FailingAllocator.NEVER);
        assertEquals(200, app.post(api, FORM).status());
        assertEquals(PARTS, seen.get());
        app.assertNothingLeft(api);
        app.filter().destroy();
        int allocations = enough.allocations();
        assertTrue(allocations > 3, api + ": " + allocations + " allocations");
        for (int failsAt = 1; failsAt <= allocations; failsAt++) {
            FailingAllocator allocator = next(failsAt);
            seen.set(0);
            String where = api + ", allocation " + failsAt + " of " + allocations;
            assertEquals(500, app.post(api, FORM).status(), where);
            assertEquals(0, seen.get(), where);
            app.assertNothingLeft(where);
            Eventually.isTrue(
                    () -> allocator.memory.liveCount() == 0, () -> where + ": " + allocator.memory.unreleased());
            assertEquals(failsAt, allocator.allocations(), where);
            app.filter().destroy();
        }
        next(FailingAllocator.NEVER);
        assertEquals(200, app.post(api, FORM).status(), "the next request failed");
        app.filter().destroy();
    }

    private FailingAllocator next(int failsAt) throws Exception {
        FailingAllocator allocator = new FailingAllocator(failsAt);
        app.next(SluiceFilter.of(
                app.formOptions().toBuilder().allocator(allocator).build()));
        return allocator;
    }

    private void read(HttpServletRequest request) throws IOException {
        int parts = 0;
        try (MultipartReader reader = MultipartRequests.reader(request)) {
            for (var part = reader.nextPart(); part != null; part = reader.nextPart()) {
                part.inputStream().readAllBytes();
                parts++;
            }
        }
        seen.set(parts);
    }
}
