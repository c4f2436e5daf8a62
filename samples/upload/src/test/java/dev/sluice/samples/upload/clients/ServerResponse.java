package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.sluice.testkit.RawHttp;
import java.io.IOException;
import java.util.Map;

/**
 * A response of the server.
 *
 * @param status the HTTP status
 * @param headers the headers, by case-insensitive name; empty if the client does not report them
 * @param text the body
 */
public record ServerResponse(int status, Map<String, String> headers, String text) {
    static final JsonMapper JSON = JsonMapper.builder().build();

    ServerResponse(int status, String text) {
        this(status, Map.of(), text);
    }

    public static ServerResponse on(RawHttp connection) throws IOException {
        RawHttp.Response raw = connection.response();
        return new ServerResponse(raw.status(), raw.headers(), raw.body());
    }

    public JsonNode json() throws IOException {
        return JSON.readTree(text);
    }

    /** {@return the value at a JSON pointer, as text} */
    public String at(String pointer) throws IOException {
        return json().at(pointer).asText();
    }

    /** Requires a rejection with this reason. {@return its error object} */
    public JsonNode assertRejected(int expected, String reason) throws IOException {
        assertEquals(expected, status, text);
        JsonNode error = json().path("error");
        assertEquals(reason, error.path("reason").asText(), text);
        assertNotEquals("", error.path("message").asText(), text);
        return error;
    }
}
