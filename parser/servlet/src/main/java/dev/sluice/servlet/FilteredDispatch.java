package dev.sluice.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One dispatch of a request through a {@link SluiceFilter}. It calls the chain with a wrapped request and response, and
 * sends the error response if the form fails. Then it ends the request, unless the request continues asynchronously.
 *
 * <p>The <em>outermost</em> dispatch is one that the container itself starts: the first one that passes the filter, or
 * an ASYNC dispatch. It sends the error response and ends the request. Forwards, includes and a second filter in the
 * chain run inside it. An error page runs after it.
 */
final class FilteredDispatch {
    private final FilterSettings settings;
    private final FormService service;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final FilterChain chain;
    private final DispatcherType type;

    FilteredDispatch(
            FilterSettings settings,
            FormService service,
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain) {
        this.settings = settings;
        this.service = service;
        this.request = request;
        this.response = response;
        this.chain = chain;
        this.type = request.getDispatcherType();
    }

    void run() throws IOException, ServletException {
        RequestState known = RequestState.of(request); // first, because the method of an error page may be GET
        if (known != null) {
            known.dispatched(type, type == DispatcherType.REQUEST ? service : null);
            serve(known, false);
        } else if (settings.isForm(request)) {
            RequestState state = RequestState.attach(request, service);
            if (type == DispatcherType.ERROR) {
                state.requestEnded(); // its body does not belong to the filter, which did not see the request itself
            }
            serve(state, true);
        } else {
            MultipartRequestException rejection = settings.rejection(request);
            if (rejection != null) {
                reject(rejection);
            } else {
                pass();
            }
        }
    }

    private void reject(MultipartRequestException rejection) throws IOException, ServletException {
        if (rejection.httpStatus() == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
            response.setHeader("Allow", settings.allowed());
        }
        RequestState state = RequestState.attach(request, service);
        state.form.reject(rejection);
        serve(state, true);
    }

    /** Passes on a request that is not a form. If the application requests its parts, the response is 415. */
    private void pass() throws IOException, ServletException {
        if (!settings.methods().contains(request.getMethod())
                || FilterSettings.isMultipart(request) // the container may parse the body
                || type == DispatcherType.ERROR
                || NonMultipartRequest.of(request) != null) {
            chain.doFilter(request, response);
            return;
        }
        NonMultipartRequest other = new NonMultipartRequest(request);
        try {
            chain.doFilter(other, response);
        } catch (IOException | ServletException | RuntimeException e) {
            if (!respond(MultipartRequestException.in(e, other.rejection()), other, response)) {
                throw e;
            }
        }
    }

    /** @param first whether this is the first dispatch of the request */
    private void serve(RequestState state, boolean first) throws IOException, ServletException {
        boolean outermost = first || type == DispatcherType.ASYNC;
        HttpServletRequest filteredRequest = NonMultipartRequest.wrapper(request, MultipartRequest.class) != null
                ? request
                : new MultipartRequest(request, state);
        FilteredResponse filteredResponse = new FilteredResponse(response, state.form);
        boolean thrown = true;
        state.dispatchEntered();
        try {
            boolean parsesNow = settings.eager()
                    && type != DispatcherType.ERROR
                    && (first || !state.form.isClaimed())
                    && !state.lease.hasRequestEnded();
            boolean wasRejected = first && state.form.isRejected();
            if (parsesNow || wasRejected) {
                state.form.parsed();
            }
            chain.doFilter(filteredRequest, filteredResponse);
            thrown = false;
        } catch (IOException | ServletException | RuntimeException e) {
            if (!outermost || !respond(state.form.recordRejection(e), filteredRequest, filteredResponse)) {
                throw e;
            }
        } finally {
            state.dispatchReturned();
            if (outermost) {
                end(state, filteredResponse.isErrorSent(), thrown);
            }
        }
    }

    /**
     * Sends the response for a failed form.
     *
     * @return whether the form failed and a response was sent
     */
    private boolean respond(
            @Nullable MultipartRequestException known,
            HttpServletRequest filteredRequest,
            HttpServletResponse filteredResponse)
            throws IOException, ServletException {
        if (known == null) {
            return false;
        }
        if (known.isClientGone() && known.getCause() instanceof IOException gone) {
            throw gone;
        }
        if (!filteredResponse.isCommitted() && settings.handler().handle(filteredRequest, filteredResponse, known)) {
            return true;
        }
        if (!MultipartRequests.sendError(filteredResponse, known)) {
            return false;
        }
        if (filteredRequest.isAsyncStarted()) { // the container sees no exception, so it does not complete the request
            try {
                filteredRequest.getAsyncContext().complete();
            } catch (IllegalStateException completed) {
                // already completed by sendError or by a worker
            }
        }
        return true;
    }

    private void end(RequestState state, boolean errorSent, boolean thrown) {
        try {
            if (errorSent || thrown) {
                state.form.textsIfPresent(); // keeps the texts for the error page
            }
        } finally { // even if textsIfPresent fails because the memory budget is exhausted
            endUnlessAsync(state, errorSent, thrown);
        }
    }

    private void endUnlessAsync(RequestState state, boolean errorSent, boolean thrown) {
        if (!state.isAsync() && request.isAsyncStarted()) { // by a call on the unwrapped request
            try {
                state.asyncStarted(request.getAsyncContext());
            } catch (IllegalStateException e) {
                state.requestEnded(); // completed by another thread
            }
        }
        boolean failed = thrown && (state.isAsync() || type == DispatcherType.ASYNC);
        if (errorSent || !state.isAsync() && !failed) { // Tomcat and Undertow do not call onComplete after an error
            state.requestEnded();
        } else if (failed) {
            state.endAfterGrace();
        }
    }
}
