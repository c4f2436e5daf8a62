package dev.sluice.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests of row 43 of parser/docs/policy.md, and of hostile file names. */
class SafeFilenameTest {
    private static void assertSafe(String expected, String filename) {
        assertEquals(expected, SafeFilename.of(filename), filename);
    }

    private static final String ORDINARY =
            "a|a.txt|A b (1).tar.gz|r\u00e9sum\u00e9.pdf|\u4e2d\u6587.doc|x\ud83d\ude00.png|a~|a-b|a,b=(c)[d]{e}#f@g+h^i";

    private static final String ONLY_LOOK_LIKE_DEVICES =
            "CONSOLE|CLOCK|COM\u0661|COM|COM10|COMA|XPT1|NULL.txt|xCON|LPT|my.con";

    private static final String DEVICES = "CON|con|Con.txt|PRN|AUX.|NUL|nul.tar.gz|COM1|COM9.log|com0|LPT1|LPT9"
            + "|COM\u00b9|LPT\u00b3.x|CON .txt|con  |CON.|\u200bCON|C\u0000ON|AUX. .x|dir/CON|\uff23\uff2f\uff2e|COM\u2070"
            + "|COM\uff11|-rf|--|\uff0drf|~|~root|\uff5e/-";

    private static final String NOTHING =
            "| |.|..|...|. .|/|\\|C:\\|\\\\?\\|a/|a/..|a\\..|a/.|/ |../|\u0000|\u202e|.\u200b."
                    + "|\u00a0|\u3000|\ud800|\udfff|\u2025|\u2026|\u2024|\uff0e|a\ufe68";

    private static final String FORBIDDEN = "/\\:*?<>|\"$`';&%!\u0000\u202e\u0085\u00a0\u2028";

    private static String escape(String text) {
        return Soup.escape(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String[] names(String table) {
        return table.split("\\|");
    }

    @Test
    void ordinaryName_isUnchanged() {
        for (String name : names(ORDINARY + '|' + ONLY_LOOK_LIKE_DEVICES)) {
            assertSafe(name, name);
        }
    }

    @Test
    void deviceOptionOrHomeDirectory_getsPrefix() {
        for (String name : names(DEVICES)) {
            String safe = SafeFilename.of(name);
            assertTrue(safe.startsWith("_"), safe);
        }
    }

    @Test
    void nameWithoutKeptCharacters_isEmpty() {
        for (String name : names(NOTHING)) {
            assertSafe("", name);
        }
    }

    @Test
    void path_isReducedToLastElement() {
        assertSafe("passwd", "../../etc/passwd");
        assertSafe("passwd", "/etc/passwd");
        assertSafe("f.txt", "C:\\dir\\f.txt");
        assertSafe("f.txt", "..\\..\\f.txt");
        assertSafe("f", "\\\\host\\share\\f");
        assertSafe("f", "\\\\?\\C:\\f");
        assertSafe("f", "a\\b/f");
        assertSafe("f", "a/b\\f");
        assertSafe("f", "file:///x/f");
    }

    @Test
    void compatibilityCharacters_areReadAsTheirNormalForm() {
        assertSafe("passwd", "..\uff0f..\uff0fetc\uff0fpasswd");
        assertSafe("f.txt", "C:\uff3cdir\ufe68f.txt");
        assertSafe("c", "\u2100");
        assertSafe("s", "\u2101");
        assertSafe("c_f", "c\ufe55f");
        assertSafe("f__DATA", "f\uff1a$DATA");
        assertSafe("r\u00e9sum\u00e9", "re\u0301sume\u0301");
        assertSafe("a_b_c_d", "a\u226eb>\u0338c\u2215d");
        assertSafe("1_2", "\u00bd");
    }

    @Test
    void nameOfInvisibleCharacters_isEmpty() {
        int[] invisible = {
            0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180D, 0x2800, 0xFE00, 0xFE0F, 0xE0100, 0xE01EF
        };
        assertSafe("", "\u3164\uffa0");
        StringBuilder all = new StringBuilder();
        for (int c : invisible) {
            String name = Character.toString(c);
            assertSafe("", name);
            assertSafe("", ' ' + name + ". ." + name + '.');
            assertSafe("a" + name, "a" + name);
            assertSafe(name + ".txt", name + ".txt");
            all.append(name).append(' ');
        }
        assertSafe("", all.toString());
        for (int c : new int[] {0x34E, 0x350, 0x17B3, 0x17B6, 0x27FF, 0x2801}) {
            assertSafe(Character.toString(c), Character.toString(c));
        }
    }

    @Test
    void reservedCharacters_becomeUnderscores() {
        assertSafe("C_f", "C:f");
        assertSafe("a_stream", "a:stream");
        assertSafe("f.txt___DATA", "f.txt::$DATA");
        assertSafe("a_b_c_d_e_f_g", "a<b>c:d\"e|f?g");
        assertSafe("_.txt", "*.txt");
        assertSafe("_(id)_id__a_b_c_d_e_", "$(id)`id`;a&b'c%d|e!");
    }

    @Test
    void blanksAndDotsAtEnds_areRemoved() {
        assertSafe("a.txt", "a.txt.");
        assertSafe("a.txt", "a.txt ");
        assertSafe("a.txt", "a.txt. . ");
        assertSafe("a.txt", " a.txt");
        assertSafe("htaccess", ".htaccess");
        assertSafe("a", "..a");
        assertSafe("a", "\u00a0a\u3000");
    }

    @Test
    void hiddenAndReorderingCharacters_areRemoved() {
        assertSafe("gpj.exe", "\u202egpj.exe");
        assertSafe("agpj.exe", "a\u202e\u202agpj\u202c.exe");
        assertSafe("ab.txt", "a\u2066b\u2069.txt");
        assertSafe("ab", "a\u200b\u200d\ufeffb");
        assertSafe("ab", "a\u0000\u0001\u001f\u007f\u0085b");
        assertSafe("ab", "a\r\nb");
        assertSafe("f.jsp.png", "f.jsp\u0000.png");
        assertSafe("ab", "a\tb");
        assertSafe("ab", "a\u2028\u2029b");
        assertSafe("ab", "a\ue000b");
        assertSafe("a b", "a\u00a0b");
    }

    @Test
    void unpairedSurrogate_isRemoved() {
        assertSafe("ab", "a\ud83db");
        assertSafe("ab", "a\ude00b");
        assertSafe("ab", "a\ude00\ud83db");
        assertSafe("a\ud83d\ude00b", "a\ud83d\ude00b");
    }

    @Test
    void longName_isCutTo255BytesAndKeepsExtension() {
        assertSafe("a".repeat(255), "a".repeat(255));
        assertSafe("a".repeat(255), "a".repeat(256));
        assertSafe("a".repeat(251) + ".txt", "a".repeat(251) + ".txt");
        assertSafe("a".repeat(251) + ".txt", "a".repeat(252) + ".txt");
        assertSafe("a".repeat(251) + ".txt", "a".repeat(100_000) + ".txt");
        assertSafe("\u4e2d".repeat(83) + ".txt", "\u4e2d".repeat(200) + ".txt"); // 83 * 3 + 4 = 253
        assertSafe("\ud83d\ude00".repeat(63), "\ud83d\ude00".repeat(100)); // 63 * 4 = 252
    }

    @Test
    void longExtension_isCut() {
        assertSafe("a." + "b".repeat(253), "a." + "b".repeat(300));
        assertSafe("a".repeat(223) + "." + "b".repeat(31), "a".repeat(300) + "." + "b".repeat(31));
        assertSafe("a".repeat(255), "a".repeat(300) + "." + "b".repeat(32));
    }

    @Test
    void cutName_isNeitherDeviceNorEndsWithBlank() {
        assertTrue(SafeFilename.of("CON" + " ".repeat(300) + "x.txt").startsWith("_CON"));
        assertTrue(SafeFilename.of("NUL" + " ".repeat(300) + "x").startsWith("_NUL"));
        assertSafe("a.txt", "a" + " ".repeat(300) + "b.txt");
        assertSafe("a", "a" + ". ".repeat(300) + "b".repeat(40));
    }

    /** Unassigned and private-use characters are removed. They are seven of eight, so only some of them are tested. */
    @Test
    void anyCharacter_staysSafeInEveryNormalForm() {
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            int type = Character.getType(c);
            if ((type == Character.UNASSIGNED || type == Character.PRIVATE_USE) && c % 61 != 0) {
                continue;
            }
            String name = 'a' + Character.toString(c) + "\u0338b";
            String safe = SafeFilename.of(name);
            assertTrue(Normalizer.isNormalized(safe, Form.NFKC), () -> "for " + escape(name));
            String decomposed = Normalizer.normalize(safe, Form.NFKD);
            assertTrue(decomposed.chars().noneMatch(each -> FORBIDDEN.indexOf(each) >= 0), () -> "for " + escape(name));
        }
    }

    @Test
    void anyName_becomesSafe() {
        SplittableRandom random = new SplittableRandom(20_261_120);
        String alphabet = "aC.: /\\\u0000\u202e\ud83d\ude00\u4e2d\u00a0ON*\u0085";
        for (int n = 0; n < 20_000; n++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(random.nextInt(2, 400));
            for (int i = 0; i < length; i++) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            String safe = SafeFilename.of(text.toString());
            assertTrue(safe.getBytes(StandardCharsets.UTF_8).length <= 255, () -> "too long for " + text);
            assertEquals(safe, SafeFilename.of(safe), "a safe name changed again");
            assertTrue(safe.chars().noneMatch(each -> FORBIDDEN.indexOf(each) >= 0), () -> "for " + text);
            assertFalse(safe.startsWith(".") || safe.endsWith(".") || safe.startsWith(" ") || safe.endsWith(" "), safe);
            assertFalse(
                    safe.equalsIgnoreCase("con")
                            || safe.toUpperCase(Locale.ROOT).startsWith("CON."),
                    safe);
        }
    }
}
