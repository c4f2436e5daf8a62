package dev.sluice.samples.upload.clients;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/**
 * What the server answered.
 *
 * @param status of HTTP
 * @param text of the body
 */
public record Answer(int status, String text) {
    static final JsonMapper JSON = JsonMapper.builder().build();

    /** {@return the body as JSON} */
    public JsonNode json() throws IOException {
        return JSON.readTree(text);
    }
}
