package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A setting, and a body whose result changes with it. Every API is tested with the same cases, to prove that the
 * setting takes effect there. The boundary is {@code x}.
 *
 * @param setting the name of the setting, as in its setter
 * @param text the value of the setting
 * @param from the lowest API that applies the setting
 * @param body the body, in ISO 8859-1
 * @param before the result without the setting: the parts, as from {@link #shown}, or {@code !} and the reason of the
 *     rejection
 * @param after the result with the setting
 */
public record SettingCase(String setting, String text, From from, String body, String before, String after) {
    /** The APIs, from the lowest to the highest. If an API applies a setting, so does each one after it. */
    public enum From {
        DECODER,
        READER,
        FORM
    }

    private static final String A = "--x\r\nContent-Disposition: form-data; name=a";
    private static final String END = "\r\n--x--";

    /** {@return all settings with an effect on a body} */
    public static List<SettingCase> all() {
        Table table = new Table();
        table.texts();
        table.limits();
        table.forms();
        return List.copyOf(table.cases);
    }

    public byte[] bytes() {
        return body.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** {@return a part, in the format of {@link #before}} */
    public static String shown(@Nullable String name, @Nullable String filename, String text) {
        return name + (filename == null ? "" : "(" + filename + ")") + "=" + text;
    }

    @Override
    public String toString() {
        return setting + " " + text;
    }

    private static final class Table {
        private final List<SettingCase> cases = new ArrayList<>();

        private void add(String setting, String text, From from, String body, String before, String after) {
            cases.add(new SettingCase(setting, text, from, body, before, after));
        }

        void texts() {
            add("headerCharset", "iso-8859-1", From.DECODER, A + "\u00e4\r\n\r\n" + END, "a\ufffd=", "a\u00e4=");
            String escaped = "--x\r\nContent-Disposition: form-data; name=\"%22\"\r\n\r\n" + END;
            add("decodePercentEscapes", "true", From.DECODER, escaped, "%22=", "\"=");
            String encoded = A + "\r\nContent-Transfer-Encoding: base64\r\n\r\ndnY=" + END;
            add("decodeTransferEncodings", "TRUE", From.READER, encoded, "a=dnY=", "a=vv");
            String pieces = A + "; filename*0=f; filename*1=g\r\n\r\nv" + END;
            add("joinContinuations", "true", From.DECODER, pieces, "!MALFORMED_CONTENT_DISPOSITION", "a(fg)=v");
            String both = A + "; filename=f; filename*=utf-8''g\r\n\r\nv" + END;
            add("preferExtendedFilename", "true", From.DECODER, both, "a(f)=v", "a(g)=v");
            String words = "--x\r\nContent-Disposition: form-data; name=\"=?utf-8?q?b?=\"\r\n\r\nv" + END;
            add("decodeEncodedWords", "true", From.DECODER, words, "=?utf-8?q?b?==v", "b=v");
        }

        void limits() {
            String body = "pp\r\n" + A + "\r\n\r\nvv\r\n" + A + "; filename=f\r\n\r\nw" + END + "\r\nee";
            String usual = "a=vv a(f)=w";
            add("preset", "Strict", From.DECODER, body, usual, "!PREAMBLE");
            add("maxBodyBytes", "10", From.DECODER, body, usual, "!BODY_TOO_LARGE");
            add("maxPartBytes", "1", From.DECODER, body, usual, "!PART_TOO_LARGE");
            add("maxFieldBytes", "1", From.READER, body, usual, "!FIELD_TOO_LARGE");
            add("maxParts", "1", From.DECODER, body, usual, "!TOO_MANY_PARTS");
            add("maxFiles", "0", From.DECODER, body, usual, "!TOO_MANY_FILES");
            add("maxHeadersPerPart", "0", From.DECODER, body, usual, "!TOO_MANY_HEADERS");
            add("maxHeaderBytesPerPart", "10", From.DECODER, body, usual, "!HEADER_SECTION_TOO_LARGE");
            add("maxHeaderBytes", "50", From.DECODER, body, usual, "!HEADERS_TOO_LARGE");
            add("maxPreambleBytes", "1", From.DECODER, body, usual, "!PREAMBLE_TOO_LARGE");
            add("maxEpilogueBytes", "1", From.DECODER, body, usual, "!EPILOGUE_TOO_LARGE");
        }

        void forms() {
            String nested = "--y\r\nContent-Disposition: attachment; filename=g\r\n\r\n1\r\n--y--";
            String mixed = A + "\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n" + nested + END;
            add("expandNested", "true", From.FORM, mixed, "a=" + nested, "a(g)=1");
            String file = A + "; filename=f\r\n\r\nvv" + END;
            add("spillThreshold", "1", From.FORM, file, "a(f)=vv", "a(f)=vv in a file");
            String field = A + "\r\n\r\nvv" + END;
            add("maxInMemoryBytes", "10", From.FORM, field, "a=vv", "!IN_MEMORY_TOO_LARGE");
            String text = "v".repeat(65_537);
            String large = A + "; filename=f\r\n\r\n" + text + END;
            add("maxFilesOnDisk", "0", From.FORM, large, "a(f)=" + text + " in a file", "!TOO_MANY_FILES_ON_DISK");
            add("maxSpoolBytes", "1", From.FORM, large, "a(f)=" + text + " in a file", "!SPOOL_FULL");
            add("maxSpoolFiles", "0", From.FORM, large, "a(f)=" + text + " in a file", "!TOO_MANY_SPOOL_FILES");
            add("keepFreeBytes", "1000000TiB", From.FORM, large, "a(f)=" + text + " in a file", "!DISK_FULL");
            add("memoryBudgetBytes", "1KiB", From.FORM, field, "a=vv", "!MEMORY_FULL");
        }
    }
}
