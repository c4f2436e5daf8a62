package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What all requests of one filter, or of one {@link AsyncForms}, share; ends with its owner. */
final class FormService implements AutoCloseable {
    /** Something that must not outlive the web application. */
    interface Member {
        void shutDown();
    }

    private final Forms forms;
    private final @Nullable Path location;
    private final Set<Member> live = ConcurrentHashMap.newKeySet();
    private final Set<String> complained = ConcurrentHashMap.newKeySet();
    private final PaceWatch watch;
    private volatile boolean closed;

    /** @param location where {@code Part.write} puts relative names; null for the temporary directory of the container */
    FormService(FormOptions options, @Nullable Path location) {
        this.forms = Forms.of(options);
        SpoolDirectory spool = options.spool();
        this.location =
                location != null || spool == null ? location : spool.path().getParent();
        this.watch = new PaceWatch(options.minRateGrace());
    }

    Forms forms() {
        return forms;
    }

    @Nullable
    Path location() {
        return location;
    }

    PaceWatch watch() {
        return watch;
    }

    boolean isClosed() {
        return closed;
    }

    void add(Member member) {
        live.add(member);
        if (closed) {
            member.shutDown();
        }
    }

    void remove(Member member) {
        live.remove(member);
    }

    /** Logs what is wrong with the set-up, once. */
    void complain(String what) {
        if (complained.add(what)) {
            System.getLogger(FormService.class.getPackageName()).log(System.Logger.Level.WARNING, what);
        }
    }

    /** {@return how many requests are not over yet} */
    int live() {
        return live.size();
    }

    private void closeForms() {
        try {
            forms.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // of a spool of its own, which these have not
        }
    }

    /** Ends what is left: forms that are held too. */
    @Override
    public void close() {
        closed = true;
        try {
            live.forEach(Member::shutDown);
        } finally {
            watch.close();
            closeForms();
        }
    }
}
