package dev.sluice.samples.servlet.readme;

import dev.sluice.MultipartException;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** The servlets of the page on migration, combined in one class. */
@SuppressWarnings("serial")
final class MigratedServlet extends HttpServlet {
    private final Path directory;
    private final Path store;

    MigratedServlet(Path directory, Path store) {
        this.directory = directory;
        this.store = store;
    }

    // @start region="life"
    private Forms forms;

    @Override
    public void init() throws ServletException {
        try {
            forms = Forms.open(directory, options -> options.maxPartBytes(10 << 20)); // once, for all requests
        } catch (IOException e) {
            throw new ServletException(e);
        }
    }

    @Override
    public void destroy() {
        try {
            forms.close();
        } catch (IOException e) {
            log("Temporary files are left. The next start deletes them.", e);
        }
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try (MultipartForm form = forms.read(request.getInputStream(), request.getContentType())) {
            for (FormPart file : form.files()) {
                file.moveTo(store.resolve(UUID.randomUUID().toString()));
            }
        } catch (MultipartException e) {
            response.sendError(e.httpStatus(), e.getMessage()); // 413 for a file that is too large
        }
    }
    // @end

    @Override
    protected void doPut(HttpServletRequest request, HttpServletResponse response) throws IOException {
        // @start region="progress"
        HttpSession session = request.getSession();
        FormHead head = new FormHead(request.getContentType(), request.getContentLengthLong(), false);
        Map<Integer, String> names = new HashMap<>();
        FormOptions options = forms.options().toBuilder()
                .progress(
                        now -> {
                            if (now.expectedBytes() > 0) { // -1 for a chunked body
                                session.setAttribute("percent", 100 * now.bodyBytes() / now.expectedBytes());
                            }
                        },
                        Duration.ofMillis(500))
                .decider(part -> {
                    names.put(part.index(), part.filename());
                    return PartDecision.store(); // as without a decider
                })
                .build();
        try (MultipartForm form = forms.read(request.getInputStream(), head, options)) {
            response.getWriter().print(form.files().size() + " files");
        } catch (MultipartException e) {
            String file = names.get(e.partIndex()); // as getFileName(); fieldName() is the name of the input
            response.setStatus(e.httpStatus());
            response.setContentType("text/plain;charset=UTF-8"); // not HTML, because the names come from the client
            response.getWriter().print(e.fieldName() + ", " + file);
        }
        // @end
    }
}
