package dev.sluice.netty;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** The captured log messages of the package, which then do not reach the console. */
final class ErrorLog extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("dev.sluice.netty");
    final List<String> messages = new CopyOnWriteArrayList<>();

    ErrorLog() {
        logger.addHandler(this);
        logger.setUseParentHandlers(false);
    }

    @Override
    public void publish(LogRecord line) {
        messages.add(line.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
