package dev.sluice.form;

/** The order of calls on a sink: {@code write* complete? close+}. */
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

    boolean close() {
        boolean first = !closed;
        closed = true;
        return first;
    }
}
