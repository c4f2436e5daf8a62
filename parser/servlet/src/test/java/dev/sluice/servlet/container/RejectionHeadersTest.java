package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Headers that other filters set in error responses. Without CORS headers, scripts of other sites cannot read the
 * responses.
 */
@Timeout(60)
class RejectionHeadersTest extends AppTestBase {
    private static final TestForm FORM = new TestForm().field("a", "1");
    private static final String MIXED = TestForm.CONTENT_TYPE.replace("form-data", "mixed");
    private static final String ORIGIN = "https://shop.example";
    private static final Filter CORS = (request, response, chain) -> {
        ((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", ORIGIN);
        chain.doFilter(request, response);
    };

    private RawHttp.Response send(String method, String type) throws IOException {
        return app.send(TestForm.request(method, "/", type, FORM.body()));
    }

    private void start(ServletContainer kind) throws Exception {
        app.options(options -> options.maxParts(1));
        app.on((request, response) -> request.getParts()).start(kind);
    }

    private static void assertAllows(String origin, RawHttp.Response response) {
        assertEquals(
                origin,
                response.headers().get("access-control-allow-origin"),
                response.status() + ": " + response.body());
    }

    private void assertRejectionsOfTheServletAllow() throws IOException {
        assertAllows(ORIGIN, send("POST", "application/json"));
        assertAllows(ORIGIN, app.post("/", new TestForm().field("a", "1").field("b", "2")));
        assertAllows(ORIGIN, app.post("/", TestForm.malformed()));
    }

    @ParameterizedTest
    @EnumSource
    void rejection_outerFilter_keepsItsHeaders(ServletContainer kind) throws Exception {
        app.before(CORS);
        start(kind);
        assertAllows(ORIGIN, send("GET", TestForm.CONTENT_TYPE));
        assertAllows(ORIGIN, send("POST", MIXED));
        assertRejectionsOfTheServletAllow();
    }

    /** The filter sends 405, and 415 for multipart bodies, before it calls the next filter. */
    @ParameterizedTest
    @EnumSource
    void rejection_innerFilter_keepsItsHeadersIfServletWasCalled(ServletContainer kind) throws Exception {
        app.after(CORS);
        start(kind);
        assertAllows(null, send("GET", TestForm.CONTENT_TYPE));
        assertAllows(null, send("POST", MIXED));
        assertRejectionsOfTheServletAllow();
    }
}
