package dev.sluice.servlet.container;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A servlet that runs the code that a test has set for the path of the request. */
@SuppressWarnings("serial")
final class WorkServlet extends HttpServlet {
    /** Matches every path for which no code is set. */
    static final String ANY = "*";

    private final transient Map<String, Work> works = new ConcurrentHashMap<>();
    private final transient Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();

    /** Sets the code for {@code path}, which is relative to the path of the servlet. */
    WorkServlet at(String path, Work work) {
        works.put(path, work);
        return this;
    }

    Queue<Throwable> thrown() {
        return thrown;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        Object included = request.getAttribute("jakarta.servlet.include.path_info");
        String path = Objects.requireNonNullElse(included != null ? included.toString() : request.getPathInfo(), "/");
        Work work = works.getOrDefault(path, works.get(ANY));
        if (work == null) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        try {
            work.run(request, response);
        } catch (ServletException | IOException | RuntimeException e) {
            thrown.add(e);
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
    }
}
