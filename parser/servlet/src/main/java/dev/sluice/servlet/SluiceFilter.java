package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A filter that parses {@code multipart/form-data} in place of the container. {@code getParts}, {@code getPart}, {@code
 * getParameter} and the related methods work in every servlet after it, with or without {@code @MultipartConfig}.
 *
 * {@snippet file="FilterSetUp.java" region="filter"}
 *
 * <p>It handles POST, PUT and PATCH requests with the media type {@code multipart/form-data}. The filter rejects other
 * {@code multipart/*} bodies with 415, and {@code multipart/form-data} with other methods with 405, because the
 * container might parse them without the limits of the filter. See {@link Builder#refuseOtherMultipart}. If a POST, PUT
 * or PATCH request is not multipart at all, {@code getParts} throws a {@code ServletException}, and the filter sends
 * 415 unless the application catches the exception. All other requests pass unchanged.
 *
 * <p>For multipart bodies, the filter sends 405 and 415 before it calls the chain. Therefore map filters that set
 * headers of all responses, such as CORS headers, before this filter, unless they read parameters.
 *
 * <p>Map this filter before every filter that reads parameters, with {@code async-supported} and all dispatcher types.
 * Map it to the path of the error page too. An error page gets the fields of a parsed form, and the parts if they still
 * exist. If a request passes two {@code SluiceFilter}s, the options of the second apply. If the body was read before
 * the request reached the second filter, the options of the first apply, and a warning is logged.
 *
 * <p><b>Parameters</b> are first the parameters of the query string, as the container decodes them, then the fields of
 * the body in order. Files are not parameters. <b>Parts</b> are fields and files. {@code Part.write} replaces an
 * existing file. Relative names are resolved against the {@linkplain Builder#location location} and must stay below it.
 * After the form has been parsed, the stream of {@code getInputStream} is at its end. If the application calls {@code
 * getInputStream} or {@code getReader} first, the form is not parsed. Then {@code getParts} throws an {@link
 * IllegalStateException}, and there are only query parameters.
 *
 * <p><b>Charsets.</b> A value is decoded in the charset of the part or of the {@code _charset_} field, otherwise in the encoding that the
 * application sets with {@code setCharacterEncoding} or in {@code web.xml}, otherwise in UTF-8. Names are decoded in the {@code
 * headerCharset} of the options if that is not UTF-8, otherwise in the encoding that the application sets, otherwise in UTF-8. The {@code
 * charset} of the request's Content-Type is ignored, because {@code multipart/form-data} does not define one.
 *
 * <p><b>Lifetime.</b> Files and memory are released when the request has ended and its form is no longer used. A worker
 * of {@code AsyncContext.start} keeps the form open if it begins within 5 seconds of the end of the request. Any other
 * thread needs a {@link MultipartRequests#hold}. If the container does not report the end of an asynchronous request
 * that has completed, timed out or failed, the filter ends the request after 5 seconds, unless a listener has
 * dispatched it again. {@link #destroy()} releases all remaining resources.
 *
 * <p><b>Errors</b> are {@link MultipartRequestException}s, thrown by every call that needs the form. The methods of
 * {@link MultipartRequests}, {@code requireText}, {@code requireFile} and {@code FormPart.text} throw a {@link
 * MultipartException} without this wrapper. If an exception of one of these two types leaves the chain, directly or as
 * the cause of another exception, the filter calls {@code sendError}, unless the response is committed. The status is
 * 400, 405, 408, 413, 415, 500, 503 or 507, or the status that the application chose. A {@link RejectionHandler} can
 * send another response. The cause of a 500 is logged, and not sent to the client. If the connection fails, {@code
 * getParts} throws the {@link IOException} of the container. {@code getParameter} wraps that exception, and the filter
 * unwraps it again.
 *
 * <p><b>Init parameters</b> are optional. Each has the key of a {@linkplain Setting setting} as its name. {@link
 * FormOptions.Builder} explains the settings of forms and their defaults. Sizes are in bytes, or have the suffix {@code
 * KiB}, {@code MiB} or {@code GiB}. A limit that can be turned off accepts {@code unlimited}. An unknown parameter is
 * an error. The settings that do not belong to forms are:
 *
 * <ul>
 *   <li>{@code directory}, in which the filter creates its {@link SpoolDirectory} (default: the temporary directory of
 *       the web application)
 *   <li>{@code maxSpoolBytes} (default: 16 times {@code maxBodyBytes}, at least 1 GiB),
 *       {@code maxSpoolFiles} (default: 10,000) and {@code keepFreeBytes} (default: 256 MiB) of that spool directory
 *   <li>{@code memoryBudgetBytes} for all requests of the filter together (default: a quarter of the heap)
 *   <li>{@code location}, for {@code Part.write} (default: {@code directory})
 *   <li>{@code parse}: {@code lazy} (default; when parts or parameters are first requested) or {@code eager} (before
 *       the chain is called)
 *   <li>{@code refuseOtherMultipart} (default: {@code true}), {@code serveDelete} (default: {@code false})
 * </ul>
 *
 * <p>A setting for one path has that path and a colon before its name, for example {@code /videos/*:maxPartBytes}. See {@link
 * Builder#path}.
 *
 * <p>{@code maxInMemoryBytes} also limits the size of all parameters together. {@code minBytesPerSecond} may be {@code none}.
 */
public final class SluiceFilter implements Filter {
    /*
     * How the module works.
     *
     * init() reads the FilterSettings and creates a FormService, which has the options of the forms, a timer and the live requests.
     * This class has the public API and the life cycle of the filter. FilteredDispatch processes one dispatch.
     *
     * The first dispatch of a form attaches a RequestState to the request, and later dispatches find it there. It consists of
     *   - the RequestForm: the owner of the body (the form, an AsyncForm, a MultipartReader or the application), and the parsed form;
     *   - the RequestLease: a reference count. The form is closed when the request has ended and nothing uses the form.
     * RequestState listens to asynchronous requests, and ends requests whose end the container does not report.
     *
     * The application gets a MultipartRequest, which takes parts and parameters from the form and wraps the AsyncContext in order to
     * count workers, and a FilteredResponse, which records calls of sendError and closes the connection after a rejection.
     */

    private static final RejectionHandler UNHANDLED = (request, response, rejection) -> false;

    /** An application callback that can replace the error response of the filter. */
    @FunctionalInterface
    public interface RejectionHandler {
        /**
         * Sends a response for a rejected form.
         *
         * @param request the request as the application sees it; methods that need the form throw {@code rejection}
         *     again
         * @param response the response, which is not committed. It has an {@code Allow} header if the method is not allowed
         * @return whether the handler has sent a response or will send one; if false, the filter sends its own. If the request is
         *     in asynchronous mode, a handler that returns true also completes the {@code AsyncContext}
         * @throws IOException if the connection fails
         * @throws ServletException if a servlet or page that the handler forwards to fails
         */
        boolean handle(HttpServletRequest request, HttpServletResponse response, MultipartRequestException rejection)
                throws IOException, ServletException;
    }

    private final @Nullable FilterSettings configured;
    private @Nullable FilterSettings settings;
    private @Nullable FormService service;
    private @Nullable SpoolDirectory ownSpool;

    /** Creates a filter that reads its configuration from init parameters. */
    public SluiceFilter() {
        this.configured = null;
    }

    private SluiceFilter(FilterSettings configured) {
        this.configured = configured;
    }

    /** {@return a filter with these options, which accepts no init parameters} */
    public static SluiceFilter of(FormOptions options) {
        return builder(options).build();
    }

    /**
     * {@return a builder of a filter that accepts no init parameters}
     *
     * @param options the options of the filter. The caller still owns their spool and budget, and closes the spool
     *     after the filter is destroyed. Netty's default allocator is replaced by one without thread caches
     */
    public static Builder builder(FormOptions options) {
        return new Builder(options);
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        if (configured == null) {
            startWith(config);
        } else if (config.getInitParameterNames().hasMoreElements()) {
            throw new ServletException("this SluiceFilter is configured in code and accepts no init parameters: remove "
                    + config.getInitParameterNames().nextElement());
        } else {
            start(configured);
        }
    }

    private void startWith(FilterConfig config) throws ServletException {
        boolean started = false;
        try {
            FilterParameters parameters = new FilterParameters(config);
            SpoolDirectory spool = parameters.openSpool();
            ownSpool = spool;
            Builder builder = builder(parameters.options(spool));
            parameters.each(builder::set, Setting.Scope.FILTER);
            parameters.eachPath(builder::path);
            start(builder.settings());
            started = true;
        } catch (IllegalArgumentException e) {
            throw new ServletException("init parameter of SluiceFilter: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new ServletException("SluiceFilter cannot create its spool directory: " + e, e);
        } finally {
            if (!started) {
                closeSpool(); // a container does not destroy a filter that did not start
            }
        }
    }

    private void start(FilterSettings made) {
        settings = made;
        service = made.newService();
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http && response instanceof HttpServletResponse httpResponse) {
            new FilteredDispatch(settings(), service(), http, httpResponse, chain).run();
        } else {
            chain.doFilter(request, response);
        }
    }

    FilterSettings settings() {
        return initialized(settings);
    }

    FormService service() {
        return initialized(service);
    }

    private static <T> T initialized(@Nullable T made) {
        if (made == null) {
            throw new IllegalStateException(
                    "the filter is not initialized: call init(FilterConfig) before the first request");
        }
        return made;
    }

    /** {@return the number of requests of this filter that have not ended} */
    public int live() {
        FormService now = service;
        return now == null ? 0 : now.live();
    }

    /**
     * Closes all remaining forms, including those with a {@link MultipartRequests.Hold}, stops the thread of the
     * filter, and removes the spool that the filter created.
     */
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
                        .log(
                                System.Logger.Level.WARNING,
                                "the spool is not empty; the next spool in the same directory removes the files",
                                e);
            }
        }
    }

    /** A builder of filters. Each setter returns this builder. Not thread-safe. */
    public static final class Builder {
        private final FormOptions options;
        private final List<PathOptions> paths = new ArrayList<>();
        private @Nullable Path location;
        private boolean eager;
        private boolean rejectsOther = Setting.REFUSE_OTHER_MULTIPART.formDefault() != 0;
        private boolean servesDelete;
        private RejectionHandler handler = UNHANDLED;

        private Builder(FormOptions options) {
            this.options = Objects.requireNonNull(options, "options");
        }

        /**
         * Changes the options for one path.
         *
         * @param pattern the path, relative to the web application: {@code /a/path}, or {@code /a/path/*} for that path
         *     and all paths below it. If several patterns match, an exact path wins, then the longest prefix
         * @param change changes the options of the filter, for example limits or a {@link FormOptions.Builder#decider}; called
         *     once
         * @throws IllegalArgumentException if {@code pattern} is neither a path nor a prefix
         */
        public Builder path(String pattern, UnaryOperator<FormOptions.Builder> change) {
            paths.add(new PathOptions(pattern, Objects.requireNonNull(change, "change")));
            return this;
        }

        /** Parses forms before the chain is called, so that errors never reach the application. */
        public Builder eager() {
            this.eager = true;
            return this;
        }

        /** Parses forms when the application first requests parts or parameters. This is the default. */
        public Builder lazy() {
            this.eager = false;
            return this;
        }

        /**
         * Sets the directory for relative names in {@code Part.write}. The default is the directory that contains the spool
         * or, without a spool, the temporary directory of the web application.
         */
        public Builder location(Path directory) {
            this.location = Objects.requireNonNull(directory, "directory");
            return this;
        }

        /**
         * Sets whether to reject other multipart types with 415, and forms with other methods with 405. The default is
         * true. If false, they reach the container, whose parser does not have the limits of the filter.
         */
        public Builder refuseOtherMultipart(boolean reject) {
            this.rejectsOther = reject;
            return this;
        }

        /** Sets whether to parse forms of DELETE requests. The default is false. */
        public Builder serveDelete(boolean serve) {
            this.servesDelete = serve;
            return this;
        }

        /** Sets a handler that can send other responses for rejected forms. */
        public Builder rejectionHandler(RejectionHandler handler) {
            this.handler = Objects.requireNonNull(handler, "handler");
            return this;
        }

        /** Sets a setting of {@link Setting.Scope#FILTER} from its text. */
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
            return new SluiceFilter(settings());
        }

        private FilterSettings settings() {
            return new FilterSettings(
                    options,
                    List.copyOf(paths),
                    location,
                    eager,
                    rejectsOther,
                    servesDelete ? List.of("POST", "PUT", "PATCH", "DELETE") : List.of("POST", "PUT", "PATCH"),
                    handler::handle);
        }
    }
}
