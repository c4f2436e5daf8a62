package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The options, the timer and the live requests of one filter or of one {@link AsyncForms}. */
final class FormService implements AutoCloseable {
    private record AtPath(PathOptions path, FormOptions options) {}

    final Forms forms;
    private final List<AtPath> paths;
    final @Nullable Path location;
    /** The live requests, each with the action that ends it. */
    private final Map<Object, Runnable> live = new ConcurrentHashMap<>();

    private final Set<String> warned = ConcurrentHashMap.newKeySet();
    final FormTimer timer;
    private volatile boolean closed;

    /**
     * @param paths changes to {@code options} for some paths
     * @param location the directory for relative names in {@code Part.write}; null for the directory that contains the
     *     spool or, without a spool, the temporary directory of the web application
     */
    FormService(FormOptions options, List<PathOptions> paths, @Nullable Path location) {
        this.forms = Forms.of(options);
        this.paths = paths.stream()
                .sorted(PathOptions::mostSpecificFirst)
                .map(each -> new AtPath(
                        each, each.change().apply(forms.options().toBuilder()).build()))
                .toList();
        SpoolDirectory spool = options.spool();
        this.location =
                location != null || spool == null ? location : spool.path().getParent();
        this.timer = new FormTimer(
                Stream.concat(Stream.of(options), this.paths.stream().map(AtPath::options))
                        .mapToLong(FormOptions::paceCheckNanos)
                        .min()
                        .orElseThrow());
    }

    FormOptions options(HttpServletRequest request) {
        if (!paths.isEmpty()) {
            String info = request.getPathInfo();
            String path = info == null ? request.getServletPath() : request.getServletPath() + info;
            for (AtPath each : paths) {
                if (each.path.matches(path)) {
                    return each.options;
                }
            }
        }
        return forms.options();
    }

    boolean isClosed() {
        return closed;
    }

    void add(Object member, Runnable shutDown) {
        live.put(member, shutDown);
        if (closed) {
            shutDown.run();
        }
    }

    void remove(Object member) {
        live.remove(member);
    }

    /** Logs a message about a configuration mistake, unless it was logged before. */
    void warnOnce(String message) {
        if (warned.add(message)) {
            System.getLogger(FormService.class.getPackageName()).log(System.Logger.Level.WARNING, message);
        }
    }

    int live() {
        return live.size();
    }

    /** Ends all live requests, including those that a {@link MultipartRequests.Hold} keeps open. */
    @Override
    public void close() {
        closed = true;
        try (forms;
                timer) {
            live.values().forEach(Runnable::run);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // cannot happen: only closing a spool can fail, and the caller owns it
        }
    }
}
