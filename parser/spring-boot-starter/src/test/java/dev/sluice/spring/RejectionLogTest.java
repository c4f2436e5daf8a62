package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.FormSummary.Outcome;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

@ExtendWith(OutputCaptureExtension.class)
class RejectionLogTest {
    private final AtomicLong now = new AtomicLong();
    private final List<String> passedOn = new ArrayList<>();

    private RejectionLog log(RejectionLog.Level level) {
        FormMetrics next = new FormMetrics() {
            @Override
            public void formStarted() {
                passedOn.add("started");
            }

            @Override
            public void bodyReceived(int bytes) {
                passedOn.add("received " + bytes);
            }

            @Override
            public void formEnded(FormSummary summary) {
                passedOn.add("ended " + summary.outcome());
            }
        };
        return new RejectionLog(level, next, now::get);
    }

    private static FormSummary summary(Outcome outcome, @Nullable Throwable failure, @Nullable String address) {
        Reason reason = failure instanceof MultipartException known ? known.reason() : null;
        return FormSummary.of(outcome, reason, failure, address);
    }

    private static FormSummary rejected(String address) {
        MultipartException failure = MultipartException.because(Reason.MISSING_NAME)
                .part(3, "ti\r\ntle")
                .at(91230)
                .build();
        return summary(Outcome.MALFORMED, failure, address);
    }

    private static List<String> lines(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains("a form was rejected"))
                .toList();
    }

    @RestController
    @EnableAutoConfiguration
    static class MvcApplication {
        @PostMapping("/upload")
        String upload(@RequestParam("file") MultipartFile file) {
            return file.getName();
        }
    }

    @Test
    void rejectedPart_inSpringMvc_isLoggedWithNameAndOffset(CapturedOutput output) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(MvcApplication.class), RunningApplication.NO_SECURITY, "--sluice.log-rejected=warn")) {
            String cut = RunningApplication.form(5000).substring(0, 3000);
            HttpResponse<String> response = application.post("/upload", cut);
            assertEquals(400, response.statusCode());
        }
        List<String> lines = lines(output);
        assertEquals(1, lines.size(), lines::toString);
        String line = "a form was rejected from 127.0.0.1 (TRUNCATED): the body ends before its close-delimiter"
                + " (part 0 \"file\", offset 3000)";
        assertTrue(lines.get(0).endsWith(line), lines.get(0));
    }

    @Test
    void rejectedForm_isLoggedWithoutControlCharacters(CapturedOutput output) {
        log(RejectionLog.Level.WARN).formEnded(rejected("10.0.0.1\r\n2026-01-01 INFO forged" + "x".repeat(100)));
        List<String> lines = lines(output);
        assertEquals(1, lines.size());
        String line = lines.get(0);
        assertTrue(line.contains("from 10.0.0.1??2026-01-01?INFO?forgedx"), line);
        assertTrue(
                line.endsWith(
                        "x... (MISSING_NAME): the Content-Disposition has no name (part 3 \"ti\\u{D}\\u{A}tle\", offset 91230)"),
                line);
    }

    @Test
    void messageOfTheApplication_isLoggedWithoutControlCharacters(CapturedOutput output) {
        MultipartException failure = MultipartException.because(Reason.PART_REFUSED)
                .saying("no file a\r\n2026-01-01 INFO forged\u2028b")
                .build();
        log(RejectionLog.Level.WARN).formEnded(summary(Outcome.REFUSED, failure, null));
        List<String> lines = lines(output);
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).endsWith("(PART_REFUSED): no file a??2026-01-01 INFO forged?b"), lines.get(0));
    }

    @Test
    void otherOutcomes_areNotLogged_andAllEventsArePassedOn(CapturedOutput output) {
        RejectionLog log = log(RejectionLog.Level.WARN);
        log.formStarted();
        log.bodyReceived(7);
        log.formEnded(summary(Outcome.COMPLETED, null, "10.0.0.1"));
        log.formEnded(summary(Outcome.ABORTED, new IOException("broken pipe"), "10.0.0.1"));
        log.formEnded(summary(Outcome.FAILED, new IOException("disk"), "10.0.0.1"));
        log.formEnded(summary(Outcome.REFUSED, null, null));
        assertEquals(
                List.of("started", "received 7", "ended COMPLETED", "ended ABORTED", "ended FAILED", "ended REFUSED"),
                passedOn);
        assertEquals(1, lines(output).size());
        assertTrue(lines(output).get(0).endsWith("a form was rejected (REFUSED)"));
    }

    @Test
    void offLevel_logsNothing(CapturedOutput output) {
        log(RejectionLog.Level.OFF).formEnded(rejected("10.0.0.1"));
        assertEquals(List.of(), lines(output));
    }

    @Test
    void manyRejections_areLoggedTenTimesPerSecond(CapturedOutput output) {
        RejectionLog log = log(RejectionLog.Level.WARN);
        for (int i = 0; i < 25; i++) {
            log.formEnded(rejected("10.0.0.1"));
        }
        assertEquals(10, lines(output).size());
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        log.formEnded(rejected("10.0.0.1"));
        log.formEnded(rejected("10.0.0.1"));
        List<String> lines = lines(output);
        assertEquals(12, lines.size());
        assertTrue(lines.get(10).endsWith("; 15 more were not logged"), lines.get(10));
        assertTrue(lines.get(11).endsWith("offset 91230)"), lines.get(11));
    }
}
