package dev.sluice.spring;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A listener that logs rejected forms and passes all events on. It logs at most {@value #MAX_LINES} lines per second, because a client can
 * cause any number of rejections. Each line is free of control characters.
 */
final class RejectionLog implements FormMetrics {
    /** The values of {@code sluice.log-rejected}. */
    enum Level {
        OFF,
        DEBUG,
        INFO,
        WARN
    }

    static final int MAX_LINES = 10;

    private static final int MAX_ADDRESS = 64;
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");
    private static final Log LOG = LogFactory.getLog(RejectionLog.class);

    private final Level level;
    private final FormMetrics next;
    private final LongSupplier clock;
    private long second = Long.MIN_VALUE;
    private int lines;
    private long omitted;

    /**
     * @param next the metrics that receive all events
     * @param clock the time in nanoseconds, like {@link System#nanoTime()}
     */
    RejectionLog(Level level, FormMetrics next, LongSupplier clock) {
        this.level = level;
        this.next = next;
        this.clock = clock;
    }

    @Override
    public void formStarted() {
        next.formStarted();
    }

    @Override
    public void bodyReceived(int bytes) {
        next.bodyReceived(bytes);
    }

    @Override
    public void formEnded(FormSummary summary) {
        switch (summary.outcome()) {
            case COMPLETED, ABORTED, FAILED -> {} // not rejections; exception handlers report failures
            default -> log(summary);
        }
        next.formEnded(summary);
    }

    private void log(FormSummary summary) {
        if (!isEnabled()) {
            return;
        }
        long more = omittedBefore();
        if (more < 0) {
            return;
        }
        StringBuilder line = new StringBuilder("a form was rejected");
        if (summary.remoteAddress() != null) {
            line.append(" from ").append(visible(summary.remoteAddress()));
        }
        line.append(" (")
                .append(summary.reason() == null ? summary.outcome() : summary.reason())
                .append(')');
        if (summary.failure() != null) {
            // Sluice escapes the client's text in its messages, but an application may not
            line.append(": ")
                    .append(CONTROL.matcher(String.valueOf(summary.failure().getMessage()))
                            .replaceAll("?"));
        }
        if (more > 0) {
            line.append("; ").append(more).append(" more were not logged");
        }
        switch (level) {
            case WARN -> LOG.warn(line);
            case INFO -> LOG.info(line);
            default -> LOG.debug(line);
        }
    }

    private boolean isEnabled() {
        return switch (level) {
            case OFF -> false;
            case DEBUG -> LOG.isDebugEnabled();
            case INFO -> LOG.isInfoEnabled();
            case WARN -> LOG.isWarnEnabled();
        };
    }

    /** {@return the number of lines omitted since the last logged line, or -1 if this line is omitted as well} */
    private synchronized long omittedBefore() {
        long now = TimeUnit.NANOSECONDS.toSeconds(clock.getAsLong());
        if (now != second) {
            second = now;
            lines = 0;
        }
        if (lines == MAX_LINES) {
            omitted++;
            return -1;
        }
        lines++;
        long more = omitted;
        omitted = 0;
        return more;
    }

    /** {@return the address in a form that is safe to log} It may come from a header that the client has set. */
    private static String visible(String address) {
        String shown = address.replaceAll("[^\\x21-\\x7E]", "?");
        return shown.length() > MAX_ADDRESS ? shown.substring(0, MAX_ADDRESS) + "..." : shown;
    }
}
