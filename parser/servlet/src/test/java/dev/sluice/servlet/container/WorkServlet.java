package dev.sluice.servlet.container;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** Does what a test says, in the container: one work for each path below the servlet's. */
@SuppressWarnings("serial")
final class WorkServlet extends HttpServlet {
    /** What is done with a request. */
    interface Work {
        void run(HttpServletRequest request, HttpServletResponse response) throws Exception;
    }

    private final transient Map<String, Work> works = new ConcurrentHashMap<>();

    /** Sets what is done at {@code path}, of which the first segment of the URL is no part. */
    WorkServlet at(String path, Work work) {
        works.put(path, work);
        return this;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        Object included = request.getAttribute("jakarta.servlet.include.path_info");
        String path = Objects.requireNonNullElse(included != null ? included.toString() : request.getPathInfo(), "/");
        Work work = works.get(path);
        if (work == null) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        try {
            work.run(request, response);
        } catch (ServletException | IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
    }
}
