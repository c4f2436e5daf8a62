package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What all requests of one filter, or of one {@link AsyncForms}, share; ends with its owner. */
final class FormService implements AutoCloseable {
    private record AtPath(PathOptions path, FormOptions options) {}

    final Forms forms;
    private final List<AtPath> paths;
    final @Nullable Path location;
    /** What must not outlive the web application, and how it ends. */
    private final Map<Object, Runnable> live = new ConcurrentHashMap<>();

    private final Set<String> complained = ConcurrentHashMap.newKeySet();
    final PaceWatch watch;
    private volatile boolean closed;

    /**
     * @param paths which options are other than {@code options}
     * @param location where {@code Part.write} puts relative names; null for the temporary directory of the container
     */
    FormService(FormOptions options, List<PathOptions> paths, @Nullable Path location) {
        this.forms = Forms.of(options);
        this.paths = paths.stream()
                .sorted(PathOptions::closestFirst)
                .map(each -> new AtPath(
                        each, each.change().apply(forms.options().toBuilder()).build()))
                .toList();
        SpoolDirectory spool = options.spool();
        this.location =
                location != null || spool == null ? location : spool.path().getParent();
        this.watch = new PaceWatch(
                Stream.concat(Stream.of(options), this.paths.stream().map(AtPath::options))
                        .map(FormOptions::minRateGrace)
                        .min(Comparator.naturalOrder())
                        .orElseThrow());
    }

    FormOptions options(HttpServletRequest request) {
        if (!paths.isEmpty()) {
            String info = request.getPathInfo();
            String path = info == null ? request.getServletPath() : request.getServletPath() + info;
            for (AtPath each : paths) {
                if (each.path.fits(path)) {
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

    /** Logs what is wrong with the set-up, once. */
    void complain(String what) {
        if (complained.add(what)) {
            System.getLogger(FormService.class.getPackageName()).log(System.Logger.Level.WARNING, what);
        }
    }

    int live() {
        return live.size();
    }

    /** Ends what is left: forms that are held too. */
    @Override
    public void close() {
        closed = true;
        try (forms;
                watch) {
            live.values().forEach(Runnable::run);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // of a spool of its own, which these have not
        }
    }
}
