package dev.sluice.samples.gateway.readme;

import dev.sluice.MultipartException;
import dev.sluice.NameEscaping;
import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartDecision;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import io.netty.buffer.UnpooledByteBufAllocator;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Forwards forms with the JDK's HTTP client, without the field {@code csrf}. */
final class ForwardServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI upstream;

    ForwardServlet(URI upstream) {
        this.upstream = upstream;
    }

    // @start region="forward"
    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        OutgoingForm out = OutgoingForm.create(NameEscaping.REPLACE, UnpooledByteBufAllocator.DEFAULT);
        HttpRequest outgoing = HttpRequest.newBuilder(upstream)
                .header("Content-Type", out.contentType())
                .POST(out.publisher())
                .build();
        CompletableFuture<HttpResponse<byte[]>> answer = client.sendAsync(outgoing, BodyHandlers.ofByteArray());
        answer.whenComplete((early, failure) -> out.abort(new IOException("the other server has ended the request")));
        try (out) {
            MultipartRequests.form(
                    request,
                    options -> out.options(
                            options,
                            part -> part.name().equals("csrf")
                                    ? PartDecision.skip()
                                    : PartDecision.to(out.part(part))));
        } catch (MultipartException rejected) {
            MultipartRequests.sendError(response, rejected);
            return;
        } catch (MultipartRequestException ended) {
            // the other server has answered, or a connection is lost
        }
        HttpResponse<byte[]> received = answer.orTimeout(1, TimeUnit.MINUTES)
                .exceptionally(failure -> null)
                .join();
        if (received != null) {
            response.setStatus(received.statusCode());
            received.headers().firstValue("Content-Type").ifPresent(response::setContentType);
            response.getOutputStream().write(received.body());
        } else if (!response.isCommitted()) { // it is committed if the client has disconnected
            response.sendError(502, "the other server cannot be reached");
        }
    }
    // @end
}
