package dev.sluice.servlet;

import dev.sluice.Limits;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.File;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The init parameters of a {@link MultipartFilter}. */
final class FilterParameters {
    private static final List<String> KNOWN = List.of(
            "preset",
            "maxBodyBytes",
            "maxPartBytes",
            "maxParts",
            "maxFiles",
            "maxFieldBytes",
            "maxHeaderBytesPerPart",
            "maxHeadersPerPart",
            "maxHeaderBytes",
            "spillThreshold",
            "maxInMemoryBytes",
            "maxDrainBytes",
            "directory",
            "maxSpoolBytes",
            "keepFreeBytes",
            "location",
            "memoryBudgetBytes",
            "parse",
            "minBytesPerSecond",
            "minRateGrace");

    private final FilterConfig config;

    FilterParameters(FilterConfig config) {
        this.config = config;
    }

    /** {@return the filter's settings, its spool open} */
    MultipartFilter.Builder read() throws ServletException {
        for (String name : Collections.list(config.getInitParameterNames())) {
            if (!KNOWN.contains(name)) {
                throw new ServletException("unknown init parameter " + name + " of MultipartFilter; known are "
                        + String.join(", ", KNOWN));
            }
        }
        SpoolDirectory spool = openSpool();
        try {
            return settings(spool);
        } catch (ServletException | RuntimeException e) {
            try {
                spool.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private MultipartFilter.Builder settings(SpoolDirectory spool) throws ServletException {
        FormOptions.Builder options = FormOptions.builder(spool, memory());
        Limits.Builder limits = Limits.builder().maxBodyBytes(64L << 20).maxFiles(100);
        size("maxBodyBytes", limits::maxBodyBytes, limits::unlimitedBodyBytes);
        size("maxPartBytes", limits::maxPartBytes, limits::unlimitedPartBytes);
        size("maxParts", limits::maxParts, limits::unlimitedParts);
        size("maxFiles", limits::maxFiles, limits::unlimitedFiles);
        size("maxFieldBytes", limits::maxFieldBytes, limits::unlimitedFieldBytes);
        size("maxHeaderBytes", limits::maxHeaderBytes, limits::unlimitedHeaderBytes);
        size("maxHeaderBytesPerPart", value -> limits.maxHeaderBytesPerPart(Math.toIntExact(value)), null);
        size("maxHeadersPerPart", value -> limits.maxHeadersPerPart(Math.toIntExact(value)), null);
        size("spillThreshold", options::spillThreshold, null);
        size("maxInMemoryBytes", options::maxInMemoryBytes, null);
        size("maxDrainBytes", options::maxDrainBytes, null);
        Preset preset = preset();
        MultipartFilter.Builder filter = MultipartFilter.builder(options.limits(defaults -> limits)
                .multipart(multipart -> multipart.preset(preset))
                .build());
        Path location = path("location");
        if (location != null) {
            filter.location(location);
        }
        rate(filter);
        return parse(filter);
    }

    private SpoolDirectory openSpool() throws ServletException {
        Path directory = path("directory");
        if (directory == null) {
            if (!(config.getServletContext().getAttribute(ServletContext.TEMPDIR) instanceof File temporary)) {
                throw new ServletException(
                        "the container gives the web application no temporary directory: set the init"
                                + " parameter directory of MultipartFilter");
            }
            directory = temporary.toPath();
        }
        SpoolDirectory.Builder spool = SpoolDirectory.builder(directory);
        size("maxSpoolBytes", spool::maxBytes, spool::unlimitedBytes);
        size("keepFreeBytes", spool::keepFreeBytes, null);
        try {
            return spool.open();
        } catch (IOException e) {
            throw new ServletException("the spool of MultipartFilter cannot be made in " + directory, e);
        }
    }

    private MemoryBudget memory() throws ServletException {
        MemoryBudget[] budget = {MemoryBudget.of(Runtime.getRuntime().maxMemory() / 4)};
        size(
                "memoryBudgetBytes",
                value -> budget[0] = MemoryBudget.of(value),
                () -> budget[0] = MemoryBudget.unlimited());
        return budget[0];
    }

    private Preset preset() throws ServletException {
        String value = text("preset", "standard");
        return switch (value) {
            case "standard" -> Preset.STANDARD;
            case "strict" -> Preset.STRICT;
            case "compatible" -> Preset.COMPATIBLE;
            default -> throw unusable("preset", value, "standard, strict or compatible", null);
        };
    }

    private MultipartFilter.Builder parse(MultipartFilter.Builder filter) throws ServletException {
        String value = text("parse", "lazy");
        return switch (value) {
            case "lazy" -> filter.lazy();
            case "eager" -> filter.eager();
            default -> throw unusable("parse", value, "lazy or eager", null);
        };
    }

    private void rate(MultipartFilter.Builder filter) throws ServletException {
        Duration grace = grace();
        String value = text("minBytesPerSecond", "");
        if (value.equals("none")) {
            filter.noMinimumRate();
            return;
        }
        try {
            filter.minimumRate(value.isEmpty() ? Reception.MIN_BYTES_PER_SECOND : bytes(value), grace);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw unusable(
                    "minBytesPerSecond", value, "a number from 1 on, with or without KiB, MiB or GiB, or none", e);
        }
    }

    private Duration grace() throws ServletException {
        String value = text("minRateGrace", "");
        if (value.isEmpty()) {
            return Reception.MIN_RATE_GRACE;
        }
        String expected = "a time above 0 such as 5s or 500ms";
        try {
            Duration grace = duration(value);
            if (grace.isZero() || grace.isNegative()) {
                throw unusable("minRateGrace", value, expected, null);
            }
            return grace;
        } catch (NumberFormatException e) {
            throw unusable("minRateGrace", value, expected, e);
        }
    }

    private static Duration duration(String value) {
        return value.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(value.substring(0, value.length() - 2)))
                : Duration.ofSeconds(
                        Long.parseLong(value.endsWith("s") ? value.substring(0, value.length() - 1) : value));
    }

    // ---- kinds of values

    private String text(String name, String otherwise) {
        String value = config.getInitParameter(name);
        return value == null ? otherwise : value.strip();
    }

    private @Nullable Path path(String name) throws ServletException {
        String value = text(name, "");
        try {
            return value.isEmpty() ? null : Path.of(value);
        } catch (InvalidPathException e) {
            throw unusable(name, value, "a path", e);
        }
    }

    /**
     * @param unlimited what to call for that word, or null where it is not taken
     */
    private void size(String name, LongConsumer setter, @Nullable Runnable unlimited) throws ServletException {
        String value = text(name, "");
        if (value.isEmpty()) {
            return;
        }
        if (unlimited != null && value.equals("unlimited")) {
            unlimited.run();
            return;
        }
        try {
            setter.accept(bytes(value));
        } catch (IllegalArgumentException | ArithmeticException e) {
            String expected = "a number from 0 on, with or without KiB, MiB or GiB";
            throw unusable(name, value, unlimited == null ? expected : expected + ", or unlimited", e);
        }
    }

    private static long bytes(String value) {
        int shift = value.endsWith("KiB") ? 10 : value.endsWith("MiB") ? 20 : value.endsWith("GiB") ? 30 : 0;
        String number =
                shift == 0 ? value : value.substring(0, value.length() - 3).strip();
        return Math.multiplyExact(Long.parseLong(number), 1L << shift);
    }

    private static ServletException unusable(String name, String value, String expected, @Nullable Exception cause) {
        return new ServletException(
                "init parameter " + name + " of MultipartFilter is '" + value + "', must be " + expected, cause);
    }
}
