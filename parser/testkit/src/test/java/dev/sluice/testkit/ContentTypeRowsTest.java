package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Rows 1 to 7 of the policy, against expectations written by hand. */
class ContentTypeRowsTest {
    private static void type(String contentType, String boundary, String standard, String strict, String compatible) {
        String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--" + boundary + "--";
        Expectation.of(contentType, body).is(standard, strict, compatible);
    }

    private static void refused(String contentType, String reason) {
        String error = "!" + reason + "@-1/-1";
        type(contentType, "x", error, error, error);
    }

    private static void accepted(String contentType, String boundary) {
        type(contentType, boundary, "a:1", "a:1", "a:1");
    }

    @Test
    void row1BcharsAsTokenOrQuoted() {
        accepted("multipart/form-data; boundary=x", "x");
        accepted("multipart/form-data; boundary=aZ09'+_-.", "aZ09'+_-.");
        accepted("multipart/form-data; boundary=\"a'()+_,-./:=? b\"", "a'()+_,-./:=? b");
        accepted("multipart/form-data; boundary=\" x\"", " x");
        accepted("multipart/form-data; boundary=" + "b".repeat(70), "b".repeat(70));
    }

    @Test
    void row2UnquotedBoundaryOfOtherVisibleAscii() {
        for (String boundary : new String[] {"*****", "a=b", "\\/\\/x", "a!b", "a:b", "(a)", "a@[]{}<>~b"}) {
            type(
                    "multipart/form-data; boundary=" + boundary,
                    boundary,
                    "a:1 +BOUNDARY_CHARACTERS@-1/-1",
                    "!INVALID_BOUNDARY@-1/-1",
                    "a:1");
        }
        refused("multipart/form-data; boundary=\"*****\"", "INVALID_BOUNDARY");
    }

    @Test
    void row3NoBoundary() {
        refused("multipart/form-data", "MISSING_BOUNDARY");
        refused("multipart/form-data; charset=x;", "MISSING_BOUNDARY");
        refused("multipart/form-data; boundary*0=x", "MISSING_BOUNDARY");
        refused("multipart/form-data; boundary*=UTF-8''x", "MISSING_BOUNDARY");
        refused("multipart/form-data, boundary=x", "MISSING_BOUNDARY");
        refused("multipart/form-data boundary=x", "MISSING_BOUNDARY");
    }

    @Test
    void row4UnusableBoundary() {
        refused("multipart/form-data; boundary=", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x \"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x\u0001y\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x\u0001y", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\u00e9", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"\u00e9\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x\"y", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x\\\"y\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary =x", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary= x", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x y", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x,y", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x\u007fy\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=\"x\ty\"", "INVALID_BOUNDARY");
        refused("multipart/form-data; a=\"\u0001\"; boundary=x", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x; a=\"\\\u007f\"", "INVALID_BOUNDARY");
    }

    @Test
    void row4LongBoundary() {
        for (int length : new int[] {71, 256}) {
            String boundary = "b".repeat(length);
            String error = "!INVALID_BOUNDARY@-1/-1";
            type("multipart/form-data; boundary=" + boundary, boundary, error, error, "a:1");
        }
        refused("multipart/form-data; boundary=" + "b".repeat(257), "INVALID_BOUNDARY");
        assertEquals(
                "LONG_BOUNDARY",
                ReferenceParser.parse("multipart/mixed; boundary=" + "b".repeat(71), new byte[0], "COMPATIBLE")
                        .silent()
                        .get(0)
                        .kind());
    }

    @Test
    void otherParametersThatCannotBeReadMakeTheBoundaryUnusable() {
        refused("multipart/form-data; =y; boundary=x", "INVALID_BOUNDARY");
        refused("multipart/form-data; a b; boundary=x", "INVALID_BOUNDARY");
        refused("multipart/form-data; a=; boundary=x", "INVALID_BOUNDARY");
        refused("multipart/form-data; a=\"y; boundary=x", "INVALID_BOUNDARY");
        refused("multipart/form-data; boundary=x; a=b c", "INVALID_BOUNDARY");
        refused("multipart/form-data; a=b, c; boundary=x", "MISSING_BOUNDARY");
        refused("multipart/form-data; a=\"b\"c; boundary=x", "MISSING_BOUNDARY");
        accepted("multipart/form-data; a=\"\t\u00e9\"; boundary=x", "x");
    }

    @Test
    void row5TwoBoundaries() {
        refused("multipart/form-data; boundary=x; boundary=x", "DUPLICATE_BOUNDARY");
        refused("multipart/form-data; boundary=x; Boundary=\"y\"", "DUPLICATE_BOUNDARY");
        refused("multipart/form-data; boundary=x, boundary=y", "DUPLICATE_BOUNDARY");
    }

    @Test
    void row6AnyCaseOtherParametersAndEmptyOnes() {
        accepted("MULTIPART/Form-Data; BOUNDARY=x", "x");
        accepted("multipart/form-data;charset=utf-8;boundary=x", "x");
        accepted("multipart/form-data ; boundary=x ; type=\"a;boundary=\\\"y\" ; ; z ;", "x");
        accepted("  multipart/form-data; boundary=x\t", "x");
    }

    @Test
    void row7OtherMediaTypes() {
        for (String type : new String[] {
            "application/x-www-form-urlencoded",
            "text/plain; boundary=x",
            "multipart; boundary=x",
            "multipart/; boundary=x",
            "multipartx/form-data; boundary=x",
            "multipart/*; boundary=x",
            "*/*; boundary=x",
            "multipart /form-data; boundary=x",
            ""
        }) {
            refused(type, "UNSUPPORTED_MEDIA_TYPE");
        }
        Outcome none = ReferenceParser.parse(null, new byte[0], "STANDARD");
        assertEquals("UNSUPPORTED_MEDIA_TYPE", none.verdict());
        type("multipart/related; boundary=x", "x", "null:1", "null:1", "null:1");
    }
}
