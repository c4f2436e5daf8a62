package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Scenario;

/** What a server is sent in one round: so many requests by our own sender, or by the tool for so many seconds. */
record Load(Scenario scenario, int connections, int requests, int seconds) {
    /** Our own sender: so many bodies over one connection. */
    static Load sent(Scenario scenario, int requests) {
        return new Load(scenario, 1, requests, 0);
    }

    /** A load tool. */
    static Load lasting(Scenario scenario, int connections, int seconds) {
        return new Load(scenario, connections, 0, seconds);
    }

    boolean byTool() {
        return seconds > 0;
    }

    String label() {
        return scenario.id() + ", " + connections + (connections == 1 ? " connection" : " connections");
    }

    /** In seconds, for the plan: what one server needs in one round. */
    double expected() {
        return byTool() ? seconds + 0.2 : requests * scenario.body().size() / 4e9;
    }
}
