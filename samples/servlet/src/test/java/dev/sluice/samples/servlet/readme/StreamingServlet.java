package dev.sluice.samples.servlet.readme;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ConcurrentSkipListMap;

/** The asynchronous servlet of the guide, embedded in a complete class. */
class StreamingServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient ConcurrentSkipListMap<String, ByteArrayOutputStream> store = new ConcurrentSkipListMap<>();

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        // @start region="streaming"
        AsyncContext context = request.startAsync();
        context.setTimeout(0); // otherwise the container ends the request after 30 s, even while the client sends
        MultipartRequests.receive(request, options -> options.decider(part -> PartDecision.to(open(part))))
                .completion() // no thread waits for it
                .thenAccept(form -> answer(response, form))
                .whenComplete((done, failure) -> {
                    if (failure != null && failure.getCause() instanceof MultipartException rejected) {
                        response.setStatus(rejected.httpStatus()); // 413, 400 and so on
                    } else if (failure != null) {
                        response.setStatus(500); // the disk, a sink or the response failed, or the client is gone
                    }
                    context.complete();
                });
        // @end
    }

    private PartSink open(PartHead part) {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        store.put(part.name(), target);
        return PartSink.to(target);
    }

    void answer(HttpServletResponse response, MultipartForm form) {
        try {
            response.getWriter().print(store.keySet() + ", " + form.bodyBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
