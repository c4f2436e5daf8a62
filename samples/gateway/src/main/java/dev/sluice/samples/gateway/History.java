package dev.sluice.samples.gateway;

import dev.sluice.PartHead;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The last forms and what happened to them. Thread-safe. */
final class History {
    private static final int MAX_FORMS = 50;
    private static final int MAX_PARTS = 100;

    private static final int MAX_CHARACTERS = 80;

    /** A part, and the decision about it. Text that the client has sent is shortened. */
    record Part(int index, String name, String filename, String contentType, String decision, long bytes) {
        private static Part of(PartHead head, String decision) {
            return new Part(
                    head.index(),
                    shortened(head.name()),
                    shortened(head.filename()),
                    shortened(head.contentType()),
                    decision,
                    0);
        }

        private static String shortened(@Nullable String sent) {
            String text = Objects.requireNonNullElse(sent, "");
            return text.length() > MAX_CHARACTERS ? text.substring(0, MAX_CHARACTERS) + "…" : text;
        }

        private Part withBytes(long received) {
            return new Part(index, name, filename, contentType, decision, received);
        }
    }

    /**
     * The state of a form. Each event replaces it.
     *
     * @param parts the first {@link #MAX_PARTS} parts of the form
     * @param status the status of the response to the client; 0 while the form arrives
     */
    record State(List<Part> parts, int allParts, int status, String outcome) {}

    static final class Form {
        final Instant since = Instant.now();
        private State state = new State(List.of(), 0, 0, "arriving");

        private Form() {}

        synchronized State state() {
            return state;
        }

        synchronized void decided(PartHead head, String decision) {
            List<Part> parts = new ArrayList<>(state.parts);
            if (parts.size() < MAX_PARTS) {
                parts.add(Part.of(head, decision));
            }
            state = new State(List.copyOf(parts), state.allParts + 1, 0, state.outcome);
        }

        /** Sets the size of a part if it is the last one in the list. */
        synchronized void received(int partIndex, long bytes) {
            List<Part> parts = new ArrayList<>(state.parts);
            int last = parts.size() - 1;
            if (last >= 0 && parts.get(last).index == partIndex) {
                parts.set(last, parts.get(last).withBytes(bytes));
                state = new State(List.copyOf(parts), state.allParts, 0, state.outcome);
            }
        }

        synchronized void ended(int status, String outcome) {
            state = new State(state.parts, state.allParts, status, outcome);
        }
    }

    private final Deque<Form> forms = new ArrayDeque<>();

    /** {@return a new form, which is also added to the history} */
    synchronized Form begin() {
        Form form = new Form();
        forms.addFirst(form);
        if (forms.size() > MAX_FORMS) {
            forms.removeLast();
        }
        return form;
    }

    /** {@return the last forms, the latest first} */
    synchronized List<Form> latest() {
        return List.copyOf(forms);
    }
}
