package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.peer.Body;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpPostMultipartRequestDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Content-Types of a part that Netty or Rack misread. STRICT rejects them. It accepts similar types if the Java parsers and Rack read
 * them like Sluice.
 */
class PartTypeTest {
    private static final List<String> FILENAME_IN_RACK = List.of(
            "text/plain; filename=b",
            "text/plain; filename*=utf-8''b",
            "text/plain; a b=\"; filename=c\"",
            "text/plain;\tfilename=\"b\"");

    private static final List<String> HARMLESS = List.of(
            "text/plain; hostname=b; pathname=c",
            "text/plain; x-name=b; x-filename=c",
            "text/plain; name =b; filename =c",
            "text/plain; filename*0=b; filename*0*=c",
            "text/plain; a=name=b",
            "text/plain; a=\"; name=b\"",
            "text/plain; a=\"filename=b\"",
            "text/plain, name=b; a=c",
            "text/plain; content-id=a; content-type =b",
            "text/plain; xcharset=utf-16",
            "text/plain; charset=utf-8");

    private static Sample sample(String type) {
        return sample("", type);
    }

    private static Sample sample(String parameters, String type) {
        String body = "--x\r\nContent-Disposition: form-data; name=\"a\"" + parameters + "\r\nContent-Type: " + type
                + "\r\n\r\n123\r\n--x\r\nContent-Disposition: form-data; name=\"z\"\r\n\r\n456\r\n--x--\r\n";
        return new Sample(
                Sample.Origin.CRAFTED, "multipart/form-data; boundary=x", body.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Optional<Difference> difference(Contender contender, String type) {
        return difference(contender, type, contender.read(sample(type).whole("x")));
    }

    private static Optional<Difference> difference(Contender contender, String type, Reading reading) {
        Reading standard = Sluice.STANDARD.read(sample(type));
        assertTrue(standard.accepts(), type);
        return reading.accepts() ? contender.difference(standard, reading) : Optional.empty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain; name=b",
                "text/plain; NAME=\"b\"",
                "text/plain; filename=b",
                "text/plain; a=\"\\\"; name=c\"; filename=b",
                "name=b",
                "filename=b; text/plain",
                "text/plain, name=b",
                "\"a; \"b; name=c"
            })
    void typeThatNettyReadsAsName_isRejectedByStrict(String type) {
        assertFalse(Sluice.STRICT.read(sample(type)).accepts());
        for (Contender netty : List.of(Contender.NETTY42, Contender.NETTY41)) {
            assertTrue(difference(netty, type).isPresent(), netty.title);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"image/png; content-type=text/html", "image/png; text/html"})
    void typeThatNettyReadsAsAnother_isRejectedByStrict(String type) throws IOException {
        Sample file = sample("; filename=\"f\"", type);
        assertFalse(Sluice.STRICT.read(file).accepts());
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        request.headers().set("Content-Type", file.contentType());
        HttpPostMultipartRequestDecoder netty =
                new HttpPostMultipartRequestDecoder(new DefaultHttpDataFactory(false), request);
        try {
            netty.offer(new DefaultLastHttpContent(Unpooled.wrappedBuffer(file.bytes())));
            assertEquals("text/html", ((FileUpload) netty.getBodyHttpData("a")).getContentType());
        } finally {
            netty.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain; charsetx=utf-16",
                "text/plain; charset =utf-16",
                "text/plain; charset=utf-8; charset*=utf-16",
                "charset=utf-16",
                "text/plain, charset=utf-16"
            })
    void typeThatNettyReadsAsCharset_isRejectedByStrict(String type) {
        assertFalse(Sluice.STRICT.read(sample(type)).accepts());
        for (Contender netty : List.of(Contender.NETTY42, Contender.NETTY41)) {
            assertEquals(Optional.of(Difference.PARTS_MISSING), difference(netty, type), netty.title);
        }
    }

    @Test
    void charsetOfAFile_withoutAscii_losesPartsInNetty_andIsRejectedByStrict() {
        Sample file = sample("; filename=\"f\"", "text/csv; charset=utf-16");
        assertFalse(Sluice.STRICT.read(file).accepts());
        assertEquals(2, Sluice.STANDARD.read(file).parts().size());
        for (Contender netty : List.of(Contender.NETTY42, Contender.NETTY41)) {
            Reading reading = netty.read(file.whole("x"));
            assertTrue(reading.accepts() && reading.parts().size() < 2, () -> netty.title + ": " + reading.describe());
        }
    }

    @Test
    void harmlessType_isReadAlike() {
        for (String type : HARMLESS) {
            assertTrue(Sluice.STRICT.read(sample(type)).accepts(), type);
            for (Contender contender : Contender.javaParsers()) {
                assertEquals(Optional.empty(), difference(contender, type), () -> contender.title + ": " + type);
            }
        }
    }

    @Test
    void typeThatRackReadsAsFilename_isRejectedByStrict() {
        ReaderProcess rack = InstalledReaders.require().get(Contender.RACK);
        for (String type : FILENAME_IN_RACK) {
            assertFalse(Sluice.STRICT.read(sample(type)).accepts(), type);
            Body body = sample(type).whole("x");
            assertEquals(
                    Optional.of(Difference.FILENAME_ADDED), difference(Contender.RACK, type, rack.read(body)), type);
        }
        for (String type : HARMLESS) {
            Body body = sample(type).whole("x");
            assertEquals(Optional.empty(), difference(Contender.RACK, type, rack.read(body)), type);
        }
    }
}
