package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Parses {@code multipart/form-data} in place of the container: behind it {@code getParts}, {@code getPart}, {@code
 * getParameter} and the methods that go with them work in every servlet, with or without {@code @MultipartConfig}.
 *
 * {@snippet file="FilterSetUp.java" region="filter"}
 *
 * <p>It handles POST, PUT and PATCH with exactly {@code multipart/form-data}. Other {@code multipart/*} bodies are answered
 * with 415, forms with other methods with 405, because the container might parse them without these limits ({@link
 * Builder#refuseOtherMultipart}). If a body is not multipart at all, {@code getParts} throws a {@code ServletException},
 * which the filter answers with 415 if it leaves the chain. All other requests pass unchanged.
 *
 * <p>405 and 415 for multipart bodies are answered before the chain is called. Map filters that set headers for all
 * answers, such as CORS and security headers, in front of this one if they do not ask for parameters.
 *
 * <p>Map it before every filter that asks for parameters, with {@code async-supported}, to all dispatcher types, and to the
 * path of the error page too: that page sees the fields of a form that was parsed, and its parts if they are still there. If two filters are in a row, the options of the inner one apply, unless the body was read before it;
 * then the log says so.
 *
 * <p><b>Parameters</b> are those of the query string first, as the container decodes them, then the fields of the body
 * in order; files are not parameters. <b>Parts</b> are fields and files. {@code Part.write} replaces an existing file;
 * relative names are resolved against the {@linkplain Builder#location location} and may not leave it. After the form has
 * been parsed, {@code getInputStream} is at its end. If the application calls {@code getInputStream} or {@code getReader}
 * first, the form is not parsed: {@code getParts} throws, and only the query string has parameters. Parameters are decoded in the
 * charset of the part or of the {@code _charset_} field, else in the encoding that the application sets with {@code
 * setCharacterEncoding} or in {@code web.xml}, else in UTF-8. Names are decoded in that encoding, else in UTF-8. The {@code charset}
 * of the request's Content-Type is not used: {@code multipart/form-data} has none.
 *
 * <p><b>Lifetime.</b> Files and memory are released when the request is over, however it ends, and nobody uses the form any
 * more: a worker of {@code AsyncContext.start} keeps it if it begins within 5 seconds of the end, any other thread needs a
 * {@link MultipartRequests#hold}. An asynchronous request that has completed, timed out or failed is over after 5 seconds at
 * the latest, whatever the container tells of it, unless a listener has dispatched it. {@link #destroy()} releases whatever
 * is left.
 *
 * <p><b>Errors</b> are {@link MultipartRequestException}s, thrown by the call that first asks for the form. {@link
 * MultipartRequests} throws their cause, the {@link MultipartException}. If one of the two leaves the chain, itself or as the cause of another exception, and the response is not committed, the filter answers it with
 * {@code sendError}: 400, 408, 413, 415, 500, 503 or 507, or the status that the application refused with; unless a {@link
 * RefusalHandler} does. The reason of a 500 is logged, and not sent to the client. An {@link IOException} of the connection is not wrapped; one that {@code
 * getParameter} had to wrap is unwrapped when it leaves the chain.
 *
 * <p><b>Init parameters</b>, all optional, are the {@linkplain Setting settings} by their keys, with the defaults of a
 * form. Sizes are in bytes, or have the suffix {@code KiB}, {@code MiB} or {@code GiB}; a limit that can be turned off
 * accepts {@code unlimited}. An unknown parameter is an error. {@link FormOptions.Builder} says what each means; the others,
 * of the process and of the filter, are
 *
 * <ul>
 *   <li>{@code directory}, where the filter makes its {@link SpoolDirectory} (default: the temporary directory that the
 *       container gives the web application), {@code maxSpoolBytes} 16 times {@code maxBodyBytes} and 1 GiB at least, {@code
 *       maxSpoolFiles} 10,000, {@code keepFreeBytes} 256 MiB
 *   <li>{@code memoryBudgetBytes} for all requests of the filter together (default: a quarter of the heap)
 *   <li>{@code location}, for {@code Part.write} (default: {@code directory})
 *   <li>{@code parse}: {@code lazy} (default: when parts or parameters are first asked for) or {@code eager} (before the
 *       chain is called)
 *   <li>{@code refuseOtherMultipart} (default: {@code true}), {@code serveDelete} (default: {@code false})
 * </ul>
 *
 * <p>A setting of a form for one path alone has that path and a colon before its name, as in {@code
 * /videos/*:maxPartBytes}: see {@link Builder#path}.
 *
 * <p>All parameters together may not be larger than {@code maxInMemoryBytes} either; {@code minBytesPerSecond} may be {@code
 * none}.
 */
public final class SluiceFilter implements Filter {
    private static final String FORM = "multipart/form-data";
    private static final RefusalHandler NOBODY = (request, response, refusal) -> false;

    /** Answers what the filter would answer with {@code sendError}. */
    @FunctionalInterface
    public interface RefusalHandler {
        /**
         * {@return whether it is answered, or will be; else the filter answers it}
         *
         * @param request as the application sees it: whoever asks it for the form gets {@code refusal} once more
         * @param response not committed; has an {@code Allow} header if the method is not allowed
         * @throws IOException of the connection
         * @throws ServletException of whatever the request was handed to
         */
        boolean handle(HttpServletRequest request, HttpServletResponse response, MultipartRequestException refusal)
                throws IOException, ServletException;
    }

    private final @Nullable Builder configured;
    private @Nullable FormService service;
    private @Nullable SpoolDirectory ownSpool;
    boolean eager;
    boolean refusesOther;
    List<String> methods = List.of();
    private RefusalHandler handler = NOBODY;

    /** Makes a filter that is configured by its init parameters. */
    public SluiceFilter() {
        this.configured = null;
    }

    private SluiceFilter(Builder builder) {
        this.configured = builder;
    }

    /** {@return a filter with these options; it takes no init parameters} */
    public static SluiceFilter of(FormOptions options) {
        return builder(options).build();
    }

    /**
     * {@return a builder of a filter that takes no init parameters}
     *
     * @param options spool and budget stay the caller's, who closes the spool after the filter is destroyed. Where they
     *     have netty's default allocator, memory comes from one that keeps nothing per thread
     */
    public static Builder builder(FormOptions options) {
        return new Builder(options);
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        Builder settings = configured;
        if (settings == null) {
            FilterParameters parameters = new FilterParameters(config);
            settings = builder(parameters.options());
            ownSpool = settings.options.spool();
            parameters.each(settings::set, Setting.Scope.FILTER);
            parameters.eachPath(settings::path);
        } else if (config.getInitParameterNames().hasMoreElements()) {
            throw new ServletException("this SluiceFilter is configured in code and takes no init parameters; it has "
                    + config.getInitParameterNames().nextElement());
        }
        eager = settings.eager;
        refusesOther = settings.refusesOther;
        handler = settings.handler;
        methods = settings.servesDelete ? List.of("POST", "PUT", "PATCH", "DELETE") : List.of("POST", "PUT", "PATCH");
        FormService made = new FormService(settings.options, settings.paths, settings.location);
        service = made;
        if (!refusesOther) {
            made.complain("multipart bodies of other types, and forms with other methods than " + methods
                    + ", are not refused: where a servlet has a @MultipartConfig, the container parses them without the"
                    + " limits of SluiceFilter (" + Setting.REFUSE_OTHER_MULTIPART + ")");
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!(request instanceof HttpServletRequest http) || !(response instanceof HttpServletResponse answer)) {
            chain.doFilter(request, response);
            return;
        }
        RequestState state = RequestState.of(http); // before the method: an error page may be got by GET
        boolean first = state == null;
        DispatcherType dispatch = http.getDispatcherType();
        if (state != null) {
            state.dispatched(dispatch, dispatch == DispatcherType.REQUEST ? service() : null);
        } else if (isForm(http)) {
            state = RequestState.attach(http, service());
            if (dispatch == DispatcherType.ERROR) {
                state.requestOver(); // the request did not get here
            }
        } else if (isRefused(http)) {
            state = RequestState.attach(http, service());
            state.form.refuse(refusal(http, answer));
        } else {
            pass(http, answer, chain);
            return;
        }
        serve(http, answer, chain, state, first);
    }

    /** Passes on a request that is not a form. If a form is expected of it nevertheless, it is answered with 415. */
    private void pass(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!methods.contains(request.getMethod())
                || mediaType(request).startsWith("multipart/") // the container may parse it
                || request.getDispatcherType() == DispatcherType.ERROR
                || OtherRequest.of(request) != null) {
            chain.doFilter(request, response);
            return;
        }
        OtherRequest other = new OtherRequest(request);
        try {
            chain.doFilter(other, response);
        } catch (IOException | ServletException | RuntimeException e) {
            if (!answered(e, other, response, other.refusal())) {
                throw e;
            }
        }
    }

    /** @param first whether the request was not seen before */
    private void serve(
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain,
            RequestState state,
            boolean first)
            throws IOException, ServletException {
        DispatcherType dispatch = request.getDispatcherType();
        boolean outermost = first || dispatch == DispatcherType.ASYNC;
        HttpServletRequest seen = isWrapped(request) ? request : new MultipartRequest(request, state);
        FilteredResponse sent = new FilteredResponse(response, state.form);
        boolean thrown = true;
        state.entered();
        try {
            boolean asks = eager && dispatch != DispatcherType.ERROR && (first || !state.form.isTaken());
            if (asks && !state.life.isRequestOver() || first && state.form.isRefused()) {
                state.form.parsed();
            }
            chain.doFilter(seen, sent);
            thrown = false;
        } catch (IOException | ServletException | RuntimeException e) {
            if (!outermost || !answered(e, seen, sent, state.form.refusal())) {
                throw e;
            }
        } finally {
            state.returned();
            if (outermost) {
                leave(request, state, sent.isErrorSent(), thrown);
            }
        }
    }

    FormService service() {
        return Objects.requireNonNull(service, "init has not been called");
    }

    private static boolean isWrapped(ServletRequest request) {
        ServletRequest layer = request;
        while (layer instanceof ServletRequestWrapper wrapper) {
            if (layer instanceof MultipartRequest) {
                return true;
            }
            layer = wrapper.getRequest();
        }
        return false;
    }

    /** {@return whether the body is served; without making anything} */
    private boolean isForm(HttpServletRequest request) {
        Object original = request.getAttribute("jakarta.servlet.error.method"); // of Servlet 6.1
        return methods.contains(original != null ? original : request.getMethod())
                && mediaType(request).equals(FORM);
    }

    /** {@return whether the body is not served, and to be refused: a container might parse it without any of these limits} */
    private boolean isRefused(HttpServletRequest request) {
        return refusesOther
                && request.getDispatcherType() == DispatcherType.REQUEST
                && mediaType(request).startsWith("multipart/")
                && hasBody(request);
    }

    /** {@return why it is refused; the response says which methods are allowed, whoever answers} */
    private MultipartRequestException refusal(HttpServletRequest request, HttpServletResponse response) {
        if (!mediaType(request).equals(FORM)) {
            return MultipartRequestException.of(
                    MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE).build(), false);
        }
        String allowed = String.join(", ", methods);
        response.setHeader("Allow", allowed);
        return MultipartRequestException.ofMethod(allowed);
    }

    /** Some clients send a Content-Type with every GET. */
    private static boolean hasBody(HttpServletRequest request) {
        long length = request.getContentLengthLong();
        return length > 0
                || length < 0
                        && (request.getHeader("Transfer-Encoding") != null
                                || !request.getProtocol().startsWith("HTTP/1"));
    }

    /** {@return the type in lower case, without parameters. A comma before them is a deviation, and for the preset to judge} */
    private static String mediaType(HttpServletRequest request) {
        String type = Objects.requireNonNullElse(request.getContentType(), "");
        int end = Math.min((type + ';').indexOf(';'), (type + ',').indexOf(','));
        return type.substring(0, end).strip().toLowerCase(Locale.ROOT);
    }

    /** {@return whether the exception was the form's, and has been answered} */
    private boolean answered(
            Exception e,
            HttpServletRequest seen,
            HttpServletResponse response,
            @Nullable MultipartRequestException refusal)
            throws IOException, ServletException {
        MultipartRequestException known = MultipartRequestException.in(e, refusal);
        if (known != null && known.isClientGone() && known.getCause() instanceof IOException gone) {
            throw gone;
        }
        if (known != null && !response.isCommitted() && handler.handle(seen, response, known)) {
            return true;
        }
        if (known == null || !MultipartRequests.sendError(response, known)) {
            return false;
        }
        if (seen.isAsyncStarted()) {
            try {
                seen.getAsyncContext().complete(); // nobody else will: for the container nothing has gone wrong
            } catch (IllegalStateException completed) {
                // by the error, or by a worker
            }
        }
        return true;
    }

    /** The dispatch is over; the request too, unless it has become asynchronous and goes on. */
    private static void leave(HttpServletRequest request, RequestState state, boolean errorSent, boolean thrown) {
        try {
            if (errorSent || thrown) {
                state.form.textsLeft(); // for the error page, which comes later
            }
        } finally { // though there is no memory for them
            endUnlessAsync(request, state, errorSent, thrown);
        }
    }

    private static void endUnlessAsync(
            HttpServletRequest request, RequestState state, boolean errorSent, boolean thrown) {
        if (!state.isAsync() && request.isAsyncStarted()) { // not through the wrapper
            try {
                AsyncContext context = request.getAsyncContext();
                state.asyncStarted(context);
            } catch (IllegalStateException e) {
                state.requestOver(); // completed meanwhile
            }
        }
        boolean failed = thrown && (state.isAsync() || request.getDispatcherType() == DispatcherType.ASYNC);
        if (errorSent || !state.isAsync() && !failed) { // Tomcat and Undertow do not tell of the end after an error
            state.requestOver();
        } else if (failed) {
            state.overUnlessDispatched();
        }
    }

    /** {@return how many requests are not over yet} */
    public int live() {
        FormService now = service;
        return now == null ? 0 : now.live();
    }

    /** Closes the forms that are left, held ones too, stops the threads of the filter and removes its own spool. */
    @Override
    public void destroy() {
        FormService ending = service;
        try {
            if (ending != null) {
                ending.close();
            }
        } finally {
            closeSpool();
        }
    }

    private void closeSpool() {
        SpoolDirectory spool = ownSpool;
        ownSpool = null;
        if (spool != null) {
            try {
                spool.close();
            } catch (IOException e) {
                System.getLogger(SluiceFilter.class.getName())
                        .log(System.Logger.Level.WARNING, "the spool is not empty; the next one there sweeps it", e);
            }
        }
    }

    /** Collects settings; not thread-safe. */
    public static final class Builder {
        private final FormOptions options;
        private final List<PathOptions> paths = new ArrayList<>();
        private @Nullable Path location;
        private boolean eager;
        private boolean refusesOther = Setting.REFUSE_OTHER_MULTIPART.formDefault() != 0;
        private boolean servesDelete;
        private RefusalHandler handler = NOBODY;

        private Builder(FormOptions options) {
            this.options = Objects.requireNonNull(options, "options");
        }

        /**
         * {@return this builder; forms that are sent to a path have options of their own}
         *
         * @param pattern within the web application: {@code /a/path}, or {@code /a/path/*} for it and all below. If several
         *     match, an exact path wins, then the longest prefix
         * @param change changes the options of the filter: limits, a {@link FormOptions.Builder#decider}; called once
         * @throws IllegalArgumentException if {@code pattern} is neither
         */
        public Builder path(String pattern, UnaryOperator<FormOptions.Builder> change) {
            paths.add(new PathOptions(pattern, Objects.requireNonNull(change, "change")));
            return this;
        }

        /**
         * {@return this builder; forms are parsed before the chain is called, so that errors never reach the application; by
         * default they are parsed when the application first asks for them}
         */
        public Builder eager() {
            this.eager = true;
            return this;
        }

        /** {@return this builder; forms are parsed when the application first asks for parts or parameters: the default} */
        public Builder lazy() {
            this.eager = false;
            return this;
        }

        /**
         * {@return this builder; {@code Part.write} puts relative names into {@code directory}: by default where the spool is,
         * and without one in the temporary directory of the web application}
         */
        public Builder location(Path directory) {
            this.location = Objects.requireNonNull(directory, "directory");
            return this;
        }

        /**
         * {@return this builder; whether multipart bodies of other types are answered with 415, and forms with other methods
         * with 405: the default. Otherwise they go to the container, whose own parser has none of the limits of the filter}
         */
        public Builder refuseOtherMultipart(boolean refuse) {
            this.refusesOther = refuse;
            return this;
        }

        /** {@return this builder; whether forms are taken with DELETE too; by default they are not} */
        public Builder serveDelete(boolean serve) {
            this.servesDelete = serve;
            return this;
        }

        /** {@return this builder; {@code handler} may answer refused forms in place of {@code sendError}} */
        public Builder refusalHandler(RefusalHandler handler) {
            this.handler = Objects.requireNonNull(handler, "handler");
            return this;
        }

        /** {@return this builder, as of {@link dev.sluice.BodySettings#set}; for settings of {@link Setting.Scope#FILTER}} */
        public Builder set(Setting setting, String text) {
            return switch (setting) {
                case LOCATION -> location(Path.of((String) setting.parse(text)));
                case PARSE -> setting.parse(text).equals("eager") ? eager() : lazy();
                case REFUSE_OTHER_MULTIPART -> refuseOtherMultipart((Boolean) setting.parse(text));
                case SERVE_DELETE -> serveDelete((Boolean) setting.parse(text));
                default -> throw new IllegalArgumentException(setting + " is not a setting of the filter alone");
            };
        }

        /** {@return the filter} */
        public SluiceFilter build() {
            return new SluiceFilter(this);
        }
    }
}
