package dev.sluice.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** The use of the processors by other programs. */
final class BusyMachine {
    /** The largest share of the processors that other programs may use while times are measured. */
    static final double TOO_BUSY = 0.15;

    private BusyMachine() {}

    /** Returns the share of all processors, from 0 to 1, that is in use during the next {@code time}. */
    static double share(Duration time) throws InterruptedException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double unused = system.getCpuLoad(); // the next call returns the load since this one
        Thread.sleep(time.toMillis());
        return system.getCpuLoad();
    }
}
