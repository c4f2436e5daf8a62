package dev.sluice;

import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;

/** The {@code charset} in the {@code Content-Type} of a part. */
final class CharsetParameter {
    private static final String NAME = "charset";

    private CharsetParameter() {}

    /** {@return whether readers may find another charset in {@code contentType} than the first {@code charset=}} */
    static boolean isAmbiguous(String contentType) {
        int plain = 0;
        for (String parameter : PartHead.parameters(contentType)) {
            if (parameter.regionMatches(true, 0, NAME, 0, NAME.length())) {
                String rest = parameter.substring(NAME.length());
                if (rest.startsWith("*")
                        || !rest.startsWith("=") && rest.stripLeading().startsWith("=")) {
                    return true;
                }
                plain += rest.startsWith("=") ? 1 : 0;
            }
        }
        return plain > 1;
    }

    /** {@return whether visible ASCII is itself in a charset; also where the platform does not know it} */
    static boolean keepsAscii(String charset) {
        try {
            return Text.keepsAscii(Charset.forName(charset));
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            return true;
        }
    }
}
