package dev.sluice.testkit;

import static dev.sluice.testkit.Expectation.disposition;
import static dev.sluice.testkit.Expectation.form;
import static dev.sluice.testkit.Expectation.mixed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Rows 28 to 43 of the policy and the offsets of decision 0001, against expectations written by hand. */
class DispositionRowsTest {
    private static final String MALFORMED = "!MALFORMED_CONTENT_DISPOSITION@^/0";

    @Test
    void row28Missing() {
        form("--x\r\nX: a\r\n^\r\n1\r\n--x--").isAlways("!MISSING_CONTENT_DISPOSITION@^/0");
        form("--x\r\n^\r\n1\r\n--x--").isAlways("!MISSING_CONTENT_DISPOSITION@^/0");
        mixed("--x\r\n\r\n1\r\n--x--").isAlways("null:1");
    }

    @Test
    void row28AnotherType() {
        disposition("^attachment; name=a").is(MALFORMED, MALFORMED, "a:1 +DISPOSITION_TYPE@^/0");
        disposition("^form; data; name=a").is(MALFORMED, MALFORMED, "a:1 +DISPOSITION_TYPE@^/0");
        disposition("Form-Data; name=a").isAlways("a:1");
    }

    @Test
    void row28MalformedParametersInAllPresets() {
        for (String value : new String[] {
            "form-data ^name=a",
            "form-data^, name=a",
            "^; name=a",
            "^\"form-data\"; name=a",
            "^",
            "form-data; ^=a",
            "form-data; na^/me=a",
            "form-data; na ^me=a",
            "form-data; name=^",
            "form-data; name=^;",
            "form-data; name=^,a",
            "form-data; name=a^,b",
            "form-data; name=a^\"b\"",
            "form-data; name=\"a^",
            "form-data; name=\"a\\\"^",
            "form-data; name=a; filename=\"C:\\dir\\\"^",
            "form-data; name=\"a\"^b",
            "form-data; name=\"a\" ^filename=\"f\"",
            "form-data; name=\"a\" ^b",
            "form-data; name=\"a\" ^b\" c",
        }) {
            disposition(value).isAlways(MALFORMED);
        }
    }

    @Test
    void row28JunkWithOneReading() {
        disposition("form-data; name ^=a").is(MALFORMED, MALFORMED, "a:1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=^ a").is(MALFORMED, MALFORMED, "a:1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=^ \"a\" ; x").is(MALFORMED, MALFORMED, "a:1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=a ^b  c ; x=y").is(MALFORMED, MALFORMED, "a b  c:1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=a; filename=\"b\"^c\" ; d=e")
                .is(MALFORMED, MALFORMED, "a(b\"c):1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=\"a\"^b\\\"; c\"").is(MALFORMED, MALFORMED, "a\"b\"; c:1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=a ^b\"c")
                .is(MALFORMED, MALFORMED, "+DISPOSITION_SYNTAX@^/0 !MALFORMED_CONTENT_DISPOSITION@45/0");
    }

    @Test
    void row29NameMissing() {
        disposition("^form-data").isAlways("!MISSING_NAME@^/0");
        disposition("^form-data; filename=f").isAlways("!MISSING_NAME@^/0");
        disposition("^form-data; name").isAlways("!MISSING_NAME@^/0");
        disposition("^form-data; name*=UTF-8''a").isAlways("!MISSING_NAME@^/0");
    }

    @Test
    void row30EmptyName() {
        disposition("form-data; name=\"\"").isAlways(":1");
    }

    @Test
    void row31Duplicates() {
        for (String value : new String[] {
            "form-data; name=a; ^name=a",
            "form-data; name=a; ^NAME=\"b",
            "form-data; name=a; filename=f; ^FileName=f",
            "form-data; filename*=UTF-8''f; name=a; ^filename*=UTF-8''f",
            "form-data; name*=UTF-8''f; name=a; ^name*=UTF-8''f",
        }) {
            disposition(value).isAlways("!DUPLICATE_PARAMETER@^/0");
        }
        disposition("form-data; name; name=a; x=1; x=2").isAlways("a:1");
    }

    @Test
    void row32TokensOrderCaseUnknownAndEmptyParameters() {
        disposition("form-data; filename=f.txt; x=\"y;z\"; FLAG; NaMe=a=b ;; ;").isAlways("a=b(f.txt):1");
        disposition("form-data;name=a;x*=1;name-x=2").isAlways("a:1");
    }

    @Test
    void row33SingleQuotesAreOrdinary() {
        disposition("form-data; name='a'; filename='f ^g'")
                .is(MALFORMED, MALFORMED, "'a'('f g'):1 +DISPOSITION_SYNTAX@^/0");
        disposition("form-data; name=';filename=\"dummy';name=b;\"").isAlways("'(dummy';name=b;):1");
    }

    @Test
    void row34Backslashes() {
        disposition("form-data; name=\"a\\\"b\\\\c\\d\"; filename=\"C:\\dir\\f.txt\"")
                .isAlways("a\"b\\c\\d(C:\\dir\\f.txt):1");
        disposition("form-data; name=\"a\\\\\"; filename=\"\\\\\\\"\"").isAlways("a\\(\\\"):1");
        disposition("form-data; name=a\\b").isAlways("a\\b:1");
    }

    @Test
    void row35PercentIsLiteral() {
        disposition("form-data; name=\"%22%0D\"; filename=\"%0A\"").isAlways("%22%0D(%0A):1");
    }

    @Test
    void row36Utf8() {
        disposition("form-data; name=\"\u20ac\"; filename=\u00e9.txt").isAlways("\u20ac(\u00e9.txt):1");
    }

    @Test
    void row37BytesThatAreNotUtf8() {
        Expectation expectation =
                disposition("form-data; name=\"a^\u00e9\"; filename=f").b(0xA9, '!');
        expectation.is(
                "a\ufffd!(f):1 +UNDECODABLE_HEADER@^/0",
                "!MALFORMED_HEADER@^/0",
                "a\ufffd!(f):1 +UNDECODABLE_HEADER@^/0");
        assertArrayEquals(
                new byte[] {'a', (byte) 0xC3, '!'},
                expectation.outcome("STANDARD").parts().get(0).rawName());
    }

    @Test
    void row38OnlyExtendedFilename() {
        String standard = "a(\u20ac.txt):1 +EXTENDED_FILENAME@^/0";
        disposition("form-data; name=a; ^filename*=UTF-8''%e2%82%AC.txt").is(standard, MALFORMED, "a(\u20ac.txt):1");
        disposition("form-data; ^FileName*=utf-8'en-GB'%e2%82%ac.txt; name=a")
                .is(standard, MALFORMED, "a(\u20ac.txt):1");
        disposition("form-data; name=a; ^filename*=ISO-8859-1''%E9")
                .is("a(\u00e9):1 +EXTENDED_FILENAME@^/0", MALFORMED, "a(\u00e9):1");
        disposition("form-data; name=a; ^filename*=UTF-8''").is("a():1 +EXTENDED_FILENAME@^/0", MALFORMED, "a():1");
    }

    @Test
    void row39BothFilenames() {
        disposition("form-data; name=a; filename=f; ^filename*=UTF-8''f")
                .is("a(f):1 +TWO_FILENAMES@^/0", "a(f):1", "a(f):1 +TWO_FILENAMES@^/0");
        String differs = "a(f):1 +CONFLICTING_FILENAMES@^/0";
        disposition("form-data; name=a; filename=f; ^filename*=UTF-8''g").is(differs, MALFORMED, differs);
        disposition("form-data; name=a; filename*=UTF-8''g; ^filename=f").is(differs, MALFORMED, differs);
        String encodedWord = "a(g):1 +CONFLICTING_FILENAMES@^/0";
        disposition("form-data; name=a; filename=\"=?utf-8?q?f?=\"; ^filename*=UTF-8''g")
                .is(encodedWord, MALFORMED, encodedWord);
    }

    @Test
    void row40BrokenExtendedFilename() {
        for (String value : new String[] {
            "UTF-8''%e2%82",
            "UTF-8''%",
            "UTF-8''a'b",
            "UTF-8",
            "UTF-8''%4",
            "UTF-8''%zz",
            "UTF-8''\u00e9",
            "UTF-8'x",
            "x",
            "KOI8-R''x",
            "''x",
            "UTF-8''a*b"
        }) {
            String plain = "a(f):1 +UNUSABLE_EXTENDED_PARAMETER@^/0";
            disposition("form-data; name=a; ^filename*=" + value)
                    .is("a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0", MALFORMED, "a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0");
            disposition("form-data; name=a; ^filename*=" + value + "; filename=f")
                    .is(plain, MALFORMED, plain);
        }
        disposition("form-data; name=a; ^name*=UTF-8''b")
                .is("a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0", MALFORMED, "a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0");
        disposition("form-data; ^name*0*=b; name=a")
                .is("a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0", MALFORMED, "a:1 +UNUSABLE_EXTENDED_PARAMETER@^/0");
    }

    @Test
    void row40Continuations() {
        String ignored = "a:1 +PARAMETER_CONTINUATION@^/0";
        disposition("form-data; name=a; ^filename*0=b; filename*1=\"c d\"").is(ignored, MALFORMED, "a(bc d):1");
        disposition("form-data; ^filename*1=c; name=a; filename*0*=UTF-8''%e2%82%ac")
                .is(ignored, MALFORMED, "a(\u20acc):1");
        disposition("form-data; name=a; ^filename*0*=UTF-8''%e2; filename*1*=%82; filename*2*=%ac")
                .is(ignored, MALFORMED, "a(\u20ac):1");
        for (String pieces : new String[] {
            "filename*1=c",
            "filename*0=b; filename*2=c",
            "filename*0=b; filename*0=b",
            "filename*0=b; filename*0*=UTF-8''b",
            "filename*0=b; filename*1*=%41",
            "filename*0*=UTF-8''%e2; filename*1=b",
            "filename*00=b"
        }) {
            disposition("form-data; name=a; ^" + pieces).is(ignored, MALFORMED, "a:1");
        }
        disposition("form-data; name=a; ^filename*0=b; filename=f")
                .is("a(f):1 +PARAMETER_CONTINUATION@^/0", MALFORMED, "a(f):1");
        disposition("form-data; name=a; filename*=%; filename*0=b")
                .is(
                        "a:1 +UNUSABLE_EXTENDED_PARAMETER@45/0 +PARAMETER_CONTINUATION@58/0",
                        "!MALFORMED_CONTENT_DISPOSITION@45/0",
                        "a(b):1 +UNUSABLE_EXTENDED_PARAMETER@45/0");
    }

    @Test
    void row40ParametersThatOnlyLookLikeContinuations() {
        disposition("form-data; name=a; filename*x=b; filename**=c; name*x=d; filename*0x=e; filename*^/=f")
                .isAlways(MALFORMED);
        disposition("form-data; name=a; filename*x=b; filename**=c; name*x=d; filename*0x=e; filename*-=f")
                .isAlways("a:1");
    }

    @Test
    void row40ContinuationsWithBrokenPieces() {
        for (String pieces : new String[] {
            "filename*0*=UTF-8''%zz", "filename*0*=KOI8-R''b", "filename*0*=UTF-8", "filename*0*=UTF-8'b"
        }) {
            disposition("form-data; name=a; ^" + pieces).is("a:1 +PARAMETER_CONTINUATION@^/0", MALFORMED, "a:1");
        }
    }

    @Test
    void row39WhatIsNoEncodedWord() {
        for (String plain : new String[] {"=?f", "f?=", "=?=", "=f?="}) {
            String both = "a(" + plain + "):1 +CONFLICTING_FILENAMES@^/0";
            disposition("form-data; name=a; filename=\"" + plain + "\"; ^filename*=UTF-8''g")
                    .is(both, MALFORMED, both);
        }
    }

    @Test
    void row41EncodedWordsAndEntitiesAreLiteral() {
        disposition("form-data; name=\"=?utf-8?q?f?=\"; filename=\"&#233;=?utf-8?q?f?=\"")
                .isAlways("=?utf-8?q?f?=(&#233;=?utf-8?q?f?=):1");
    }

    @Test
    void row42EmptyFilename() {
        disposition("form-data; name=a; filename=\"\"").isAlways("a():1");
    }

    @Test
    void row43FilenamesAreLiteral() {
        disposition("form-data; name=a; filename=\"../..\\\\etc/\u202e\"").isAlways("a(../..\\etc/\u202e):1");
    }

    @Test
    void rawBytesAreThoseAfterUnescaping() {
        Outcome.Part part = disposition("form-data; name=\"\\\"\u20ac\"; filename*=UTF-8''%41")
                .outcome("STANDARD")
                .parts()
                .get(0);
        assertArrayEquals("\"\u20ac".getBytes(StandardCharsets.UTF_8), part.rawName());
        assertArrayEquals(new byte[] {'A'}, part.rawFilename());
    }
}
