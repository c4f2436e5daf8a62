package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.flow.ChunkPool;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Nothing;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The servlet filter without a container, in front of a servlet that requests parts or parameters, reads parts or bytes itself, or throws.
 * The body is received in pieces, ends early or fails, and all faults of {@link FormTarget} may occur. A form must agree with its body, a
 * rejection must have the status of its reason, only documented exceptions may leave the filter, and the request may leak nothing.
 */
public final class FilterTarget {
    private static final int OWN = 6;

    /** The number of choice bytes, which precede the bytes for {@link Setup}. */
    static final int HEAD = OWN + FaultPlan.HEAD + FilterApplication.HEAD;

    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    /** Turned off, because each filter would warn that other multipart types are not rejected. */
    private static final Logger SILENT = Logger.getLogger("dev.sluice.servlet");

    static {
        SILENT.setLevel(Level.OFF);
    }

    private static final FilterConfig CONFIG = Nothing.of(FilterConfig.class);

    /** The size of the read buffer, which is charged in addition to the form. */
    private static final int CHUNK = 32 << 10;

    private static final int LARGE_DRAIN = 1 << 20;
    private static final int[] DRAINS = {0, 16, LARGE_DRAIN, LARGE_DRAIN};
    private static final String[] METHODS = {"POST", "PUT", "PATCH", "POST", "POST", "POST", "POST", "GET"};
    private static final int SOME_TYPES = 28;
    private static final String[] OTHER_TYPES = {
        "multipart/form-data",
        " Multipart/Form-Data ; boundary=x; boundary=y",
        "multipart/form-data; boundary=",
        "multipart/form-data-x; boundary=x",
    };
    private static final List<String> ENCODINGS = List.of("", "ISO-8859-1", "UTF-16BE", "no such charset");

    private final Disk disk;
    private final SpoolDirectory spool;
    private final FaultPlan faultPlan;
    private final Setup setup;
    private final MemoryBudget budget;
    private final FormOptions options;
    private final FormOptions calm;
    private final byte[] bytes;
    private final boolean fails;
    private final boolean eager;
    private final boolean served;
    private final BareRequest.Head head;
    private final BareStream stream;
    private final BareRequest request;
    private final BareResponse response = new BareResponse();
    private final FilterVerdict verdict;
    private final SluiceFilter filter;
    private final FilterApplication application;
    private final boolean drains;
    private final long chunksBefore = ChunkPool.ALLOCATOR.metric().usedHeapMemory();

    private FilterTarget(Disk disk, Input in) {
        this.disk = disk;
        int way = in.next();
        int kind = in.next();
        int pace = in.next();
        int place = in.next() << 8 | in.next();
        int type = in.next();
        boolean smallSpool = (kind & 2) != 0;
        this.spool = disk.spool(smallSpool);
        this.faultPlan = new FaultPlan(in, disk, spool);
        Input choices = new Input(in.take(FilterApplication.HEAD));
        this.setup = Setup.of(in);

        this.budget = faultPlan.budget(CHUNK);
        MultipartOptions common = FaultPlan.common(setup, ALLOCATOR);
        int drain = DRAINS[kind >> 3 & 3];
        this.options = faultPlan
                .options(
                        (kind & 4) != 0
                                ? FormOptions.inMemory(budget, common)
                                : FormOptions.builder(spool, budget, common))
                .maxDrainBytes(drain)
                .build();
        this.eager = (kind & 1) != 0;
        String contentType = type >> 3 < SOME_TYPES ? setup.contentType() : OTHER_TYPES[(type >> 3) - SOME_TYPES];
        String method = METHODS[type & 7];
        this.served = !method.equals("GET")
                && (type >> 3 < SOME_TYPES ? setup.boundary().isFormData() : type >> 3 < 31);

        byte[] body = setup.body();
        int end = (way & 2) == 0 ? body.length : place % (body.length + 1);
        this.bytes = Arrays.copyOf(body, end);
        this.fails = (way & 3) == 3;
        String encoding = ENCODINGS.get(way >> 4 & 3);
        this.stream = new BareStream(body, end, fails, setup.cuts());
        this.head = new BareRequest.Head(
                method,
                contentType,
                (way & 4) == 0 ? -1 : fails ? body.length : end, // a body shorter than announced must fail
                (way & 8) != 0,
                encoding.isEmpty() ? null : encoding,
                (way & 64) != 0);
        this.request = new BareRequest(head, stream);
        boolean tooSlow = pace >= 240;
        this.filter = filter(pace, tooSlow);
        this.drains = drain == LARGE_DRAIN && !head.expects() && (way & 2) == 0;

        Charset charset = charset(encoding);
        this.calm = calm(charset);
        ExpectedForm form =
                new ExpectedForm(calm, contentType, head.length(), bytes, !fails, charset, options.maxInMemoryBytes());
        DecodedBody decoded = served ? decoded(options) : null;
        this.verdict = new FilterVerdict(faultPlan, disk, options, form, decoded, stream, smallSpool, tooSlow);
        this.application = new FilterApplication(verdict, response, eager, choices);
    }

    /** {@return an input without faults, except faults of the body and the connection} */
    static byte[] calmed(byte[] input) {
        byte[] calmed = input.clone();
        calmed[1] &= ~2;
        calmed[2] = 0;
        Arrays.fill(calmed, OWN, OWN + FaultPlan.HEAD, (byte) 0);
        calmed[OWN + FaultPlan.HEAD - 1] = FaultPlan.SOUND_APPLICATION;
        return calmed;
    }

    private SluiceFilter filter(int pace, boolean tooSlow) {
        SluiceFilter.Builder builder =
                SluiceFilter.builder(paced(pace, tooSlow)).location(disk.targets());
        if (eager) {
            builder.eager();
        }
        return builder.refuseOtherMultipart(false).build();
    }

    private FormOptions paced(int pace, boolean tooSlow) {
        FormOptions.Builder builder = options.toBuilder();
        if (tooSlow) {
            return builder.minBytesPerSecond(1 << 30)
                    .minRateGrace(Duration.ofNanos(1))
                    .build();
        }
        return (pace >= 200 ? builder.minBytesPerSecond(1).minRateGrace(Duration.ofDays(1)) : builder.noMinimumRate())
                .build();
    }

    /** {@return the charset of text and names, or null if it is absent, unknown or does not contain ASCII} */
    private static @Nullable Charset charset(String encoding) {
        return encoding.equals("ISO-8859-1") ? StandardCharsets.ISO_8859_1 : null;
    }

    private FormOptions calm(@Nullable Charset charset) {
        FormOptions calm = faultPlan.calmOptions(setup, ALLOCATOR);
        if (charset == null) {
            return calm;
        }
        return calm.toBuilder().headerCharset(charset).build();
    }

    /** {@return the decoder's result with the given options, or null if the Content-Type is rejected} */
    private @Nullable DecodedBody decoded(FormOptions by) {
        try {
            Boundary boundary =
                    Boundary.anyMultipart(head.contentType(), by.multipart().preset());
            return new DecodedBody(boundary, by.multipart(), Unpooled.wrappedBuffer(bytes), !fails);
        } catch (MultipartException e) {
            return null;
        }
    }

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException, ServletException {
        Disk disk = Disk.take();
        FilterTarget run = new FilterTarget(disk, new Input(bytes));
        try {
            run.filter.init(CONFIG);
            if (run.served) {
                run.run();
            } else {
                run.pass();
            }
            run.requireNothingLeft();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(e.getMessage() + "\n" + run, e);
        }
        disk.giveBack();
    }

    /** Passes a request that is not a form. The filter wraps such a request only if its body is not multipart. */
    private void pass() throws IOException, ServletException {
        filter.doFilter(request, response, (seen, passed) -> {
            boolean wrapped = seen instanceof ServletRequestWrapper wrapper && wrapper.getRequest() == request;
            require((seen == request || wrapped) && passed == response, "another request is passed on");
            try {
                throw new AssertionError("a form was returned for a request without one: "
                        + MultipartRequests.form((HttpServletRequest) seen));
            } catch (MultipartException e) {
                require(
                        wrapped && e.reason() == MultipartException.Reason.UNSUPPORTED_MEDIA_TYPE,
                        "wrong exception: " + e);
            } catch (IllegalStateException e) {
                require(!wrapped && !(e instanceof MultipartRequestException), "wrong exception: " + e);
            }
        });
        require(stream.position() == 0 && !stream.hasEnded(), "the body of a request without a form is read");
    }

    private void run() throws IOException, ServletException {
        faultPlan.begin();
        Exception left = null;
        try {
            filter.doFilter(request, response, application);
        } catch (IOException | ServletException | RuntimeException e) {
            left = e;
        }
        requireRightEnd(left);
        requireRightConnection();
        if (response.getStatus() != 0) {
            request.dispatch(DispatcherType.ERROR);
            filter.doFilter(
                    request, new BareResponse(), (seen, passed) -> ((HttpServletRequest) seen).getParameter("a"));
            // The request ends only after its error page, which may use the form.
            request.dispatch(DispatcherType.REQUEST);
        }
        require(filter.live() == 0, filter.live() + " requests are live");
        disk.noFaults();
        application.requireOver();
    }

    private void requireRightEnd(@Nullable Exception left) {
        Exception thrown = application.thrown();
        if (!application.wasCalled()) {
            require(eager, "the application was not called");
            if (left == null) {
                verdict.requireRightAnswer(response.getStatus(), response.message());
            } else {
                require(!(left instanceof MultipartRequestException), "no response was sent for a rejection: " + left);
                verdict.requireRight(left, false);
            }
            return;
        }
        MultipartRequestException refusal = in(thrown, MultipartRequestException.class);
        boolean responded = false;
        Exception expected = thrown;
        MultipartException reason = refusal == null ? in(thrown, MultipartException.class) : null;
        if (reason != null && !application.hasCommitted()) {
            require( // thrown by MultipartRequests.form
                    left == null
                            && response.getStatus() == reason.httpStatus()
                            && response.message().equals(reason.getMessage()),
                    "wrong response for " + reason);
            return;
        }
        if (refusal != null && refusal.getCause() != null && refusal.getCause() == stream.failure()) {
            expected = stream.failure();
        } else if (refusal != null && !application.hasCommitted()) {
            expected = null;
            responded = true;
            require(
                    response.getStatus() == refusal.httpStatus()
                            && response.message().equals(refusal.getMessage())
                            && response.closes() == refusal.closesConnection(),
                    "wrong response for " + refusal);
        }
        require(left == expected, left + " left the filter, expected " + expected);
        require(responded || response.getStatus() == 0, response.getStatus() + " was sent without a reason");
    }

    private static <T extends Throwable> @Nullable T in(@Nullable Throwable thrown, Class<T> type) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    private void requireRightConnection() {
        if (response.getStatus() != 0) {
            require(response.closes() || stream.hasEnded(), "the connection is reused in the middle of a body");
            require(
                    !response.closes() || !drains || !verdict.isCalm() || application.ownsBody(),
                    "the connection is closed though the body is small");
        }
    }

    private void requireNothingLeft() throws IOException {
        filter.destroy();
        filter.destroy();
        disk.noFaults();
        requireWholeTargets();
        require(ChunkPool.ALLOCATOR.metric().usedHeapMemory() == chunksBefore, "chunks are held");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held");
        require(budget.used() == 0, budget.used() + " bytes are charged");
        String left = disk.left(spool);
        require(left.isEmpty(), left);
    }

    private void requireWholeTargets() throws IOException {
        Map<String, byte[]> targets = disk.takeTargets();
        DecodedBody decoded = targets.isEmpty() ? null : decoded(calm);
        String broken = faultPlan.brokenTarget(targets, decoded == null ? List.of() : decoded.parts(), setup.preset());
        require(broken.isEmpty(), broken + " is incomplete");
    }

    @Override
    public String toString() {
        return head + ", " + (eager ? "eager" : "lazy") + ", " + (options.spool() == null ? "in memory" : "spooled")
                + ", drains " + options.maxDrainBytes() + ", " + faultPlan + "\n" + setup;
    }
}
