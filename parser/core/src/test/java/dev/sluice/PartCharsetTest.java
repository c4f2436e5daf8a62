package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PartCharsetTest {
    @Test
    void isUtf8WhereNothingElseIsSaid() {
        assertEquals(StandardCharsets.UTF_8, PartCharset.of(null));
        assertEquals(StandardCharsets.UTF_8, PartCharset.of("text/plain"));
        assertEquals(StandardCharsets.UTF_8, PartCharset.of("text/plain; format=flowed"));
    }

    @Test
    void isThatOfTheParameterOrNoneWhereItIsUnknown() {
        assertEquals(StandardCharsets.ISO_8859_1, PartCharset.of("text/plain; charset=iso-8859-1"));
        assertNull(PartCharset.of("text/plain; charset=klingon"));
        assertNull(PartCharset.of("text/plain; charset=\"no name\""));
        assertNull(PartCharset.of("text/plain; charset="));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "text/plain;charset=x | x",
                ";charset=x | x",
                "text/plain ; CharSet=x ; y=z | x",
                "t/p; charset=a; charset=b | a",
                "t/p; a=\"b;charset=c\"; charset=\"d\" | d",
                "t/p; a=\"\\\";charset=c\"; charset=d | d",
                "t/p; charset=\"\" | ``",
                "t/p; charset=\" | \"",
                "t/p; charset=\"a | \"a",
                "t/p; charset= | ``",
                "t/p; a; charset=\"x;y\" | x;y",
            })
    void aParameterIsFoundWhereverItStands(String contentType, String value) {
        assertEquals(value, PartCharset.parameter(contentType, "charset"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"t/p", "t/p;", "t/p; charset", "t/p; xcharset=a", "t/p; a=\"; charset=b", "charset=a"})
    void aParameterThatIsNotThereIsNull(String contentType) {
        assertNull(PartCharset.parameter(contentType, "charset"));
    }
}
