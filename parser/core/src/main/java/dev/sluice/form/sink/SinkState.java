package dev.sluice.form.sink;

/** A check of the order of calls to a sink: {@code write* complete? close+}. */
final class SinkState {
    private boolean complete;
    private boolean closed;

    void checkWritable() {
        if (complete || closed) {
            throw new IllegalStateException(
                    "the sink is " + (closed ? "closed" : "complete") + ": use one sink per part");
        }
    }

    void complete() {
        checkWritable();
        complete = true;
    }

    /** {@return whether this is the first call} Marks the sink as closed. */
    boolean close() {
        boolean first = !closed;
        closed = true;
        return first;
    }
}
