package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.encode.QuotedName;
import dev.sluice.testkit.LinearWork;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that are written into a Content-Disposition: they are escaped, replaced or rejected. */
class NameEscapingTest {
    /** {@return the part with these names, as STRICT reads it after it was written} */
    static Decoding.Part written(String name, String filename, NameEscaping escaping) throws IOException {
        MultipartEncoder encoder = MultipartEncoder.create(Boundary.of("x"), escaping, ByteBufAllocator.DEFAULT);
        ByteBuf begin = encoder.beginPart(name, filename, null);
        ByteBuf end = encoder.finish();
        String body = begin.toString(StandardCharsets.ISO_8859_1) + end.toString(StandardCharsets.ISO_8859_1);
        begin.release();
        end.release();
        Decoding.Result result = Decoding.decode(body, Preset.STRICT);
        assertEquals(List.of(), result.reasons(), body);
        assertEquals(List.of(), result.deviations(), body);
        assertEquals(1, result.parts().size(), body);
        return result.parts().get(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a b",
                "user[0]",
                "user[0][name]",
                "form:field",
                "a,b",
                "a+b",
                "it's",
                "100%",
                "5%2g",
                "=a",
                "100% of 2",
                "a=b",
                "a&b",
                "~a.b-c_d",
                "Übergröße",
                "日本語",
                "\uD83D\uDE00.png",
                "names=",
                "...",
                "...\u200B"
            })
    void ordinaryName_isWrittenUnchanged(String name) throws IOException {
        for (NameEscaping escaping : NameEscaping.values()) {
            Decoding.Part part = written(name, name, escaping);
            assertEquals(name, part.name());
            assertEquals(name, part.filename());
        }
    }

    /** The columns are the name and the name that REPLACE writes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "a\\b|a_b",
                "a\\\"|a__",
                "a;b|a_b",
                "a; filename=b|a_ filename_b",
                "a, filename*0* =b|a, filename*0* _b",
                "NAME=b|NAME_b",
                "=?utf-8?q?a?=|_?utf-8?q?a?=",
                "%22|_22",
                "a%0d%0Ab|a_0d_0Ab",
                "&#233;|_#233_",
                " a|_a",
                "a |a_",
                "\u00A0a\u3000|_a_",
                "\uFEFFa|_a",
                "a\tb|a_b",
                "a\0b|a_b",
                "a\u0080\u0085b|a__b",
                "a\u2028b|a_b",
                "a\u2029b|a_b",
                "a\u007F|a_",
                "\uD800|_",
                "a\uDC00b|a_b",
                "\uDE00\uD83D|__",
                "/a|_a",
                "''|_"
            })
    void nameThatReadersMisread_isRejectedOrReplaced(String name, String replaced) throws IOException {
        for (NameEscaping escaping : new NameEscaping[] {NameEscaping.REJECT, NameEscaping.BROWSER}) {
            assertRejected(name, null, escaping);
            assertRejected("a", name, escaping);
        }
        assertEquals(replaced, written(name, null, NameEscaping.REPLACE).name());
        assertEquals(replaced, written("a", name, NameEscaping.REPLACE).filename());
    }

    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "a\tb,a control character at index 1",
                "a ,a blank or byte order mark at its start or end at index 1",
                "a\\b,a backslash at index 1",
                "a;b,a semicolon at index 1",
                "%41,a percent escape at index 0",
                "&#1;,a character reference at index 0",
                "=?,an encoded word at index 0",
                "name=,a parameter at index 4",
                "\uD800,half of a surrogate pair at index 0"
            })
    void rejection_namesProblem(String name, String problem) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> written("a", name, NameEscaping.REJECT));
        assertTrue(e.getMessage().startsWith("the file name has " + problem + ", "), e.getMessage());
    }

    @Test
    void work_isLinear() {
        requireLinear(QuotedName.Kind.FILENAME, ".", "\u00E9");
        requireLinear(QuotedName.Kind.FILENAME, "\u200B", "a");
        requireLinear(QuotedName.Kind.FILE_INPUT_NAME, "a[b]", "\u00E9");
        requireLinear(QuotedName.Kind.FIELD_NAME, "1=", "\u00E9");
    }

    private static void requireLinear(QuotedName.Kind kind, String token, String last) {
        LinearWork.require(token, 64 << 10, size -> {
            String name = token.repeat(size / token.length()) + last;
            return () -> QuotedName.of(name, kind, NameEscaping.REPLACE);
        });
    }

    private static void assertRejected(String name, String filename, NameEscaping escaping) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> written(name, filename, escaping));
        assertTrue(e.getMessage().endsWith("change it, or use NameEscaping.REPLACE"), e.getMessage());
        assertTrue(e.getMessage().chars().noneMatch(c -> c < ' ' || c >= 0x7F), e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "a/b,a_b",
        "a/,a_",
        ".,_",
        "..,__",
        "../a,.._a",
        "..\u202E,___",
        ".\u3000.,___",
        "\u200B,_",
        "\uDB40\uDC01.,___"
    })
    void filenameWithAPath_isRejectedOrReplaced(String filename, String replaced) throws IOException {
        assertRejected("a", filename, NameEscaping.REJECT);
        assertEquals(replaced, written("a", filename, NameEscaping.REPLACE).filename());
        assertEquals(
                "a" + filename,
                written("a" + filename, null, NameEscaping.REJECT).name());
    }

    @ParameterizedTest
    @CsvSource({"a[b,a_b", "a]b,a_b", "[a],_a_", "a[b]c,a_b_c", "a[[b]],a__b__", "]b[c],_b_c_", "a[b][c,a_b__c"})
    void brackets_notAnArray_areRejectedForFiles(String name, String replaced) throws IOException {
        assertRejected(name, "f", NameEscaping.REJECT);
        assertEquals(replaced, written(name, "f", NameEscaping.REPLACE).name());
        assertEquals(name, written("a", name, NameEscaping.REJECT).filename());
        assertEquals(name, written(name, null, NameEscaping.REJECT).name());
    }

    @Test
    void wordFilename_inTheNameOfAFileInput_isRejectedOrReplaced() throws IOException {
        assertRejected("the filename", "f", NameEscaping.REJECT);
        assertEquals(
                "the_filename",
                written("the filename", "f", NameEscaping.REPLACE).name());
        assertRejected("filenamefilename", "f", NameEscaping.REJECT);
        for (String name : List.of("filename", "the file name", "my-filename")) {
            assertEquals(
                    name, written(name, "the filename", NameEscaping.REJECT).name());
        }
        assertEquals(
                "the filename",
                written("the filename", null, NameEscaping.REJECT).name());
    }

    @Test
    void quote_isWrittenAsPercentEscape() throws IOException {
        assertEquals("a%22b", written("a\"b", null, NameEscaping.REJECT).name());
        assertEquals("%22", written("a", "\"", NameEscaping.BROWSER).filename());
        assertEquals("a_b", written("a\"b", null, NameEscaping.REPLACE).name());
    }

    @Test
    void lineEnd_browserEscaping_isWrittenAsPercentEscape() throws IOException {
        assertEquals("a%0D%0Ab", written("a\r\nb", null, NameEscaping.BROWSER).name());
        assertEquals("a__b", written("a\r\nb", null, NameEscaping.REPLACE).name());
        assertRejected("a\rb", null, NameEscaping.REJECT);
        assertRejected("a\nb", null, NameEscaping.REJECT);
    }

    @Test
    void name_tooLongForMostReaders_isRejected() throws IOException {
        String longest = "a".repeat(8 * 1024 - "Content-Disposition: form-data; name=\"\"\r\n\r\n".length());
        assertEquals(longest, written(longest, null, NameEscaping.REJECT).name());
        assertThrows(IllegalArgumentException.class, () -> written(longest + "a", null, NameEscaping.REPLACE));
    }
}
