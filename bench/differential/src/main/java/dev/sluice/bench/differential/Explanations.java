package dev.sluice.bench.differential;

import static dev.sluice.bench.differential.Contender.ARMERIA;
import static dev.sluice.bench.differential.Contender.FILEUPLOAD1;
import static dev.sluice.bench.differential.Contender.FILEUPLOAD2;
import static dev.sluice.bench.differential.Contender.HELIDON;
import static dev.sluice.bench.differential.Contender.JETTY;
import static dev.sluice.bench.differential.Contender.MIMEPULL;
import static dev.sluice.bench.differential.Contender.NETTY41;
import static dev.sluice.bench.differential.Contender.NETTY42;
import static dev.sluice.bench.differential.Contender.NETTY_CONTRIB;
import static dev.sluice.bench.differential.Contender.OKHTTP;
import static dev.sluice.bench.differential.Contender.SPRING;
import static dev.sluice.bench.differential.Contender.TOMCAT;
import static dev.sluice.bench.differential.Contender.UNDERTOW;
import static dev.sluice.bench.differential.Explanation.Fault.OPEN;
import static dev.sluice.bench.differential.Explanation.Fault.PEER;

import dev.sluice.bench.differential.Explanation.Fault;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Every disagreement there is on bodies that STRICT accepts, explained. One that is not here fails the comparison. */
final class Explanations {

    private static final Set<Difference> FRAMING = Set.of(
            Difference.PARTS_MISSING,
            Difference.PARTS_ADDED,
            Difference.CONTENT_CUT,
            Difference.CONTENT_ADDED,
            Difference.CONTENT);
    private static final Set<Difference> MISSING = Set.of(Difference.PARTS_MISSING);
    private static final Set<Difference> TEXTS = Set.of(Difference.NAME, Difference.FILENAME);
    private static final Set<Difference> NAMES =
            Set.of(Difference.NAME, Difference.NAME_ABSENT, Difference.FILENAME, Difference.FILENAME_ABSENT);
    private static final Set<Difference> ABSENT = Set.of(Difference.NAME_ABSENT, Difference.FILENAME_ABSENT);

    private static final Set<Contender> COMMONS = Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT);
    private static final Set<Contender> NETTY = Set.of(NETTY41, NETTY42);

    private static final String DELIMITER =
            "RFC 2046 5.1.1: `delimiter := CRLF \"--\" boundary`, at the beginning of a line";
    private static final String QUOTED =
            "RFC 9110 5.6.4: what stands in a quoted-string is the value, blanks and separators too";
    private static final String QUOTED_PAIR =
            "RFC 9110 5.6.4: a recipient must read a quoted-pair as the byte behind the backslash";

    private static final String OTHER_FIELDS = "RFC 7578 4.8: other header fields must be ignored";
    private static final String TEXT =
            "RFC 7578 4.2 and 5.1.2: a field may be any bytes; its charset says how to read them as text";

    private static final List<Explanation> ALL = List.of(
            of(
                    Set.of(JETTY, NETTY41, NETTY42, NETTY_CONTRIB, ARMERIA, MIMEPULL),
                    FRAMING,
                    Feature.LINE_FEED_DASH_BOUNDARY,
                    PEER,
                    DELIMITER,
                    "take a delimiter after LF alone, so content that holds one ends there and the rest of it is parts"),
            of(
                    Set.of(ARMERIA, MIMEPULL),
                    FRAMING,
                    Feature.DASH_BOUNDARY,
                    PEER,
                    DELIMITER,
                    "take a delimiter after CR alone, or in the middle of a line"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, NETTY41, NETTY42, NETTY_CONTRIB, HELIDON),
                    FRAMING,
                    Feature.PADDING,
                    PEER,
                    "RFC 2046 5.1.1: receivers must handle padding after a delimiter",
                    "do not see the delimiter: parts are lost without an error"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, UNDERTOW, SPRING, OKHTTP),
                    FRAMING,
                    Feature.SHARED_BLANK_LINE,
                    PEER,
                    "RFC 2046 5.1.1: `body-part := MIME-part-headers [CRLF *BYTE]`, so a part may end with its headers",
                    "read past the delimiter: the next part becomes content of this one"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, NETTY41, NETTY42),
                    MISSING,
                    Feature.EMPTY_NAME,
                    PEER,
                    "RFC 7578 4.2 asks for a name, not for a long one; 5.2: parts are not to be dropped",
                    "drop a part whose name is empty, without an error"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, ARMERIA, SPRING),
                    NAMES,
                    Feature.ENCODED_WORD,
                    PEER,
                    "RFC 2047 5 (3): an encoded word must not appear within a quoted-string",
                    "decode it nevertheless"),
            of(COMMONS, TEXTS, Feature.ESCAPED_QUOTE, PEER, QUOTED_PAIR, "keep the backslash in the value"),
            of(
                    Set.of(ARMERIA),
                    NAMES,
                    Feature.ESCAPED_QUOTE,
                    PEER,
                    QUOTED_PAIR,
                    "keeps the backslash in the name, or gives up the value"),
            of(
                    Set.of(UNDERTOW),
                    NAMES,
                    Feature.ESCAPED_QUOTE,
                    PEER,
                    QUOTED_PAIR,
                    "ends the value at the escaped quote"),
            of(NETTY, NAMES, Feature.ESCAPED_QUOTE, PEER, QUOTED_PAIR, "drop quotes and backslashes from values"),
            of(
                    Set.of(JETTY),
                    NAMES,
                    Feature.ESCAPED_QUOTE,
                    PEER,
                    QUOTED_PAIR,
                    "strips quotes at the ends of the value after it has been unquoted"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, JETTY, UNDERTOW, ARMERIA),
                    NAMES,
                    Feature.ESCAPED_BACKSLASH,
                    OPEN,
                    "RFC 9110 5.6.4 makes one backslash of two; browsers send backslashes as they are (WHATWG HTML, multipart/form-data encoding)",
                    "keep both, as browsers mean it; Jetty reads a name of two backslashes as none"),
            of(NETTY, NAMES, Feature.ESCAPED_BACKSLASH, PEER, "RFC 9110 5.6.4 makes one backslash of two", "drop both"),
            of(
                    Set.of(NETTY41, NETTY42, NETTY_CONTRIB),
                    TEXTS,
                    Feature.BACKSLASH,
                    OPEN,
                    "RFC 9110 5.6.4: a sender should not escape other characters; browsers and old IE send `C:\\dir\\f.txt` as it is (WHATWG HTML)",
                    "drop the backslash: `C:dirf.txt`"),
            of(
                    Set.of(FILEUPLOAD1, FILEUPLOAD2, TOMCAT, JETTY, NETTY41, NETTY42),
                    NAMES,
                    Feature.OUTER_BLANKS,
                    PEER,
                    QUOTED,
                    "cut blanks off at the ends of a value"),
            of(Set.of(JETTY, NETTY41, NETTY42), TEXTS, Feature.TAB_IN_VALUE, PEER, QUOTED, "read a tab as a space"),
            new Explanation(
                    NETTY,
                    TEXTS,
                    Set.of(Feature.SEMICOLON, Feature.COMMA, Feature.COLON, Feature.EQUALS, Feature.PARAMETER_IN_VALUE),
                    PEER,
                    QUOTED,
                    "read separators in a value as spaces"),
            of(
                    Set.of(ARMERIA, NETTY41, NETTY42, NETTY_CONTRIB),
                    NAMES,
                    Feature.EMPTY_PARAMETER,
                    PEER,
                    "RFC 9110 5.6.6: `parameters = *( OWS \";\" OWS [ parameter ] )`",
                    "misread the parameters around a semicolon that has none"),
            of(
                    NETTY,
                    MISSING,
                    Feature.EMPTY_PARAMETER,
                    PEER,
                    "RFC 9110 5.6.6: `parameters = *( OWS \";\" OWS [ parameter ] )`",
                    "drop the part and those behind it, without an error"),
            of(
                    Set.of(ARMERIA, NETTY_CONTRIB),
                    NAMES,
                    Feature.NO_VALUE,
                    OPEN,
                    "RFC 2183 2: a parameter has a value; nothing says what one without is (policy 32: ignored)",
                    "give up the parameters, or those behind it"),
            of(
                    COMMONS,
                    Set.of(Difference.FILENAME_ADDED),
                    Feature.NO_VALUE,
                    OPEN,
                    "RFC 2183 2: a parameter has a value; nothing says what one without is (policy 32: ignored)",
                    "read `filename` without a value as an empty file name"),
            of(
                    NETTY,
                    MISSING,
                    Feature.NO_VALUE,
                    PEER,
                    "RFC 2183 2: a parameter has a value; nothing allows to drop the part for it",
                    "drop the part and those behind it, without an error"),
            of(
                    Set.of(NETTY_CONTRIB),
                    NAMES,
                    Feature.PARAMETER_BLANKS,
                    PEER,
                    "RFC 9110 5.6.6: `OWS \";\" OWS`",
                    "takes a blank before the semicolon for a part of the quoted value"),
            of(
                    Set.of(NETTY_CONTRIB),
                    FRAMING,
                    Feature.TRANSFER_ENCODING,
                    PEER,
                    "RFC 2045 6.1: the values are not case-sensitive; 6.2: 7bit, 8bit and binary change nothing",
                    "loses the part where the value is not in lower case"),
            of(
                    NETTY,
                    MISSING,
                    Feature.CONTENT_TYPE,
                    PEER,
                    "RFC 9110 5.6.6: empty parameters and blanks around a semicolon are no part of a value",
                    "take them for a part of the boundary: no part is found, without an error"),
            of(
                    NETTY,
                    TEXTS,
                    Feature.CONTENT_TYPE,
                    PEER,
                    "RFC 7578 8: multipart/form-data has no charset parameter; 5.1: names are UTF-8",
                    "read names in the charset that the request's Content-Type says"),
            of(
                    NETTY,
                    FRAMING,
                    Feature.PART_CHARSET,
                    PEER,
                    "RFC 2046 5.1.1: a delimiter is made of bytes, whatever the charset of a part",
                    "look for the delimiter in the part's charset: UTF-16 swallows the rest of the body"),
            of(NETTY, FRAMING, Feature.PART_LENGTH, PEER, OTHER_FIELDS, "use a part's Content-Length"),
            new Explanation(
                    Set.of(SPRING),
                    Set.of(Difference.CONTENT, Difference.CONTENT_ADDED, Difference.CONTENT_CUT),
                    Set.of(Feature.CONTENT_NOT_ASCII, Feature.PART_CHARSET),
                    OPEN,
                    TEXT,
                    "reads fields as text: what is not in its charset is replaced, its bytes are lost"),
            new Explanation(
                    Set.of(SPRING),
                    Set.of(Difference.CONTENT, Difference.CONTENT_ADDED, Difference.CONTENT_CUT),
                    Set.of(Feature.CARRIAGE_RETURN, Feature.LINE_FEED, Feature.CONTENT_DASHES),
                    OPEN,
                    TEXT,
                    "reads fields as text in the part's charset: in Shift_JIS such a byte makes no character with one that begins a character of two bytes, and that one is replaced"),
            of(
                    Set.of(SPRING),
                    Set.of(Difference.CONTENT, Difference.CONTENT_ADDED, Difference.CONTENT_CUT),
                    Feature.LONG_CONTENT,
                    OPEN,
                    TEXT,
                    "reads fields as text in the part's charset: in UTF-16 the last byte of an odd number is replaced, which shorter content of an even number does not have"),
            of(
                    Set.of(UNDERTOW),
                    ABSENT,
                    Feature.PARAMETER_CASE,
                    PEER,
                    "RFC 2045 5.1 and RFC 9110 5.6.6: names of parameters are not case-sensitive",
                    "does not see `NAME=`"),
            of(
                    Set.of(UNDERTOW),
                    ABSENT,
                    Feature.TYPE_CASE,
                    PEER,
                    "RFC 2183 2.8 and RFC 2045 5.1: types are not case-sensitive",
                    "does not see a name in `Form-Data`"),
            of(
                    Set.of(JETTY),
                    TEXTS,
                    Feature.BACKSLASH,
                    PEER,
                    QUOTED,
                    "strips a single quote at the end of a value that also has a backslash"),
            new Explanation(
                    Set.of(SPRING),
                    Set.of(Difference.FILENAME),
                    Set.of(Feature.ESCAPED_QUOTE, Feature.ESCAPED_BACKSLASH),
                    PEER,
                    QUOTED_PAIR,
                    "keeps the backslash where the value looks like the beginning of an encoded word"),
            new Explanation(
                    Set.of(HELIDON),
                    NAMES,
                    Set.of(Feature.EMPTY_NAME, Feature.EMPTY_FILENAME),
                    PEER,
                    QUOTED,
                    "reads an empty value in quotes as one quote"),
            of(
                    Set.of(HELIDON),
                    NAMES,
                    Feature.PARAMETER_CASE,
                    PEER,
                    "RFC 2045 5.1 and RFC 9110 5.6.6: names of parameters are not case-sensitive",
                    "does not see `NAME=` and makes a name up"),
            of(
                    Set.of(HELIDON),
                    FRAMING,
                    Feature.PART_LENGTH,
                    PEER,
                    OTHER_FIELDS,
                    "uses a part's Content-Length, as far as there are so many bytes: content is cut, or delimiters become content"),
            new Explanation(
                    Set.of(HELIDON),
                    FRAMING,
                    Set.of(Feature.CLOSE_PADDING, Feature.NO_LAST_LINE_END),
                    PEER,
                    OTHER_FIELDS,
                    "uses a part's Content-Length, by which the close-delimiter is content; only where more than a line end comes behind that does it not refuse the body then"),
            new Explanation(
                    Set.of(HELIDON),
                    NAMES,
                    Set.of(Feature.SEMICOLON, Feature.PARAMETER_IN_VALUE),
                    PEER,
                    QUOTED,
                    "ends a quoted value at a semicolon"),
            of(
                    Set.of(HELIDON),
                    NAMES,
                    Feature.OTHER_PARAMETERS,
                    PEER,
                    QUOTED,
                    "ends the quoted value of another parameter at a semicolon, and takes the `name=` behind that, still in quotes, for the name"),
            of(
                    Set.of(HELIDON),
                    FRAMING,
                    Feature.DASH_BOUNDARY,
                    PEER,
                    DELIMITER,
                    "takes a delimiter in the middle of a long line"),
            of(
                    Set.of(HELIDON),
                    Set.of(Difference.FILENAME),
                    Feature.PERCENT,
                    OPEN,
                    "RFC 7578 2 and 4.2 allow a sender to percent-encode a file name and do not say how to know; browsers send % as it is",
                    "decodes it"),
            of(
                    Set.of(HELIDON),
                    Set.of(Difference.FILENAME),
                    Feature.PLUS,
                    PEER,
                    "RFC 3986 2.1: percent-encoding does not touch +",
                    "reads + in a file name as a space"),
            of(
                    Set.of(HELIDON),
                    NAMES,
                    Feature.VALUE_NOT_ASCII,
                    PEER,
                    "RFC 7578 5.1: names and file names are UTF-8",
                    "reads header fields as ASCII, U+FFFD for the rest"));

    private static final String NETTY_SPLITS =
            "Netty takes a CR for content that ends one chunk where the LF of the delimiter begins the next.";

    /** Of errors at cuts, which have no feature of the body for a cause. */
    private static final Map<Contender, String> SPLITS = Map.of(
            JETTY,
            "Jetty puts an LF in front of content that begins as a delimiter does, be it with one dash, where the cut is within that beginning.",
            NETTY42,
            NETTY_SPLITS,
            NETTY41,
            NETTY_SPLITS,
            NETTY_CONTRIB,
            "netty-contrib does not know a delimiter that is cut where it stands right behind the blank line of a part without content and line ends are bare LFs.",
            ARMERIA,
            "Armeria does not know a delimiter that is cut between its boundary and the line end or the dashes behind it: the next part becomes content of the one before, or the end is missing. Its own `Multipart.aggregate()`, on its own threads, reads the same (`ArmeriaPartsTest`).");

    private Explanations() {}

    private static Explanation of(
            Set<Contender> contenders,
            Set<Difference> differences,
            Feature feature,
            Fault fault,
            String rule,
            String text) {
        return new Explanation(contenders, differences, Set.of(feature), fault, rule, text);
    }

    static List<Explanation> all() {
        return ALL;
    }

    /** {@return why the parser of that title reads some bodies otherwise when they are cut, if that is known} */
    static Optional<String> ofSplits(String title) {
        return SPLITS.entrySet().stream()
                .filter(each -> each.getKey().title().equals(title))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    static Optional<Explanation> of(Signature signature) {
        return ALL.stream()
                .filter(explanation -> explanation.explains(signature))
                .findFirst();
    }
}
