package dev.sluice.form.sink;

/** The state of a sink, which checks the order of calls: {@code write* complete? close+}. */
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

    /** {@return whether this is the first call} */
    boolean close() {
        boolean first = !closed;
        closed = true;
        return first;
    }
}
