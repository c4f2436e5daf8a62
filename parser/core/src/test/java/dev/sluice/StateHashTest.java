package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The split proof is only as good as its hash. Every field of the decoder and of all reachable objects is either in the hash, or cannot
 * influence later chunks, for a reason given here. A new field fails this test until it is listed.
 */
class StateHashTest {
    /** For each type, the fields in the hash, and the other fields with the reason why they are not in the hash. */
    private static final String FIELDS = """
            == MultipartDecoder
            in the hash: state search offset partIndex partOpen partOffset partSize preambleAt delimiterAt delimiterAfterBareLf
            in the hash: partAfterBareLf epilogueAt beginning padding paddingBytes finished failure section rules deviations
            never changes: delimiter boundary options acceptBareLf watchLookalikes
            of the chunk being read, and none is when input is needed: chunk position limit beyondBodyLimit
            of the event handed out last, cleared by the next call: delimiterText data dataIndex dataLength
            follows from partOpen once the event is left: headersReadable
            follows from the bytes of the section: head
            ends the decoding, as the state says that is in the hash: broken
            == HeaderSection
            in the hash: bytes state fields count scanned totalBefore limit endOfSection lineStart offset
            never changes: deviations formData boundary maxFields maxSize maxTotalSize charset
            as partIndex of the decoder, which is in the hash: part
            say the same as "fields" in another way: common isCommon shared
            == PartRules
            in the hash: files
            never changes: options formData section deviations
            follow from the bytes of the section: disposition names part dispositionField typeField encodingField origins
            follow from the bytes of the section: contentLength lengthField secondLengthField
            == PartNames
            never changes: options
            follow from the bytes of the section: disposition hasName hasFilename otherName otherFilename
            follow from the bytes of the section: extendedFilename found
            == Deviations
            in the hash: reported count outside inside part
            never changes: preset
            == ReportedDeviation
            in the hash: kind partIndex offset
            == MultipartException
            in the hash: reason offset partIndex
            in its message, which is in the hash: sentence httpStatus setting limit seen fieldName
            == DelimiterSearch
            in the hash: matchEnd matchStart watching lookalike
            never changes: delimiter text acceptBareLf length dashToLast dashPattern lastPattern stride maxKernelIndex
            of the range searched last: rangeStart
            of the false start just reported: failedStart failedEnd
            choose between searches that find the same: searched gramsResumeAt passesResumeAt
            == Accumulation
            never changes: allocator initialCapacity
            where the bytes lie that are in the hash, as "bytes" of the section: memory array arrayOffset capacity
            as far as the section was scanned: size
            once the decoding has ended: closed
            == CommonHeaders
            say the same as "fields" of the section, written before each reading: nameStart nameEnd filenameStart filenameEnd
            say the same as "fields" of the section, written before each reading: dispositionEnd typeStart typeEnd blankLine
            == DispositionParser
            never changes: preset lenient
            of the field being read, at once when the section is complete: at end valueStart valueEnd escaped
            found anew in each part: bytes name extendedName nameContinuation found foundKinds continuations
            found anew in each part: filename extendedFilename continuation unknown
            == Parameter
            found anew in each part: at from to hasEscapes
            never changes: this$0
            == ChunkMemory
            of the chunk being read, and none is when input is needed: chunk inner array view shift viewLimit start end recordsAccess
            another way to the same bytes, asked whether it leads there before it is taken: cachedView cachedAddress
            """;

    private static final Map<String, List<String>> IN_HASH = fields(true);
    private static final Map<String, List<String>> NO_INFLUENCE = fields(false);

    private static Map<String, List<String>> fields(boolean inHash) {
        Map<String, List<String>> fields = new HashMap<>();
        List<String> ofType = new ArrayList<>();
        for (String line : FIELDS.lines().toList()) {
            int colon = line.indexOf(':');
            if (colon < 0) {
                ofType = new ArrayList<>();
                fields.put(line.substring("== ".length()), ofType);
            } else if (line.startsWith("in the hash:") == inHash) {
                ofType.addAll(List.of(line.substring(colon + 2).split(" ")));
            }
        }
        return fields;
    }

    /** Types whose fields are not inspected, such as bytes and texts. The fields that refer to them are listed. */
    private static final Set<Class<?>> FOREIGN = Set.of(
            String.class,
            Boolean.class,
            List.class,
            Set.class,
            Charset.class,
            ByteBuf.class,
            ByteBuffer.class,
            ByteBufAllocator.class,
            IOException.class,
            Throwable.class);

    /** Fields that are in the hash only if they have a meaning: during a match, or after a deviation in the part. */
    private static final Set<String> CONDITIONAL = Set.of("matchStart", "part", "lineStart");

    @Test
    void everyField_isInTheHashOrHasNoInfluence() {
        Set<String> unseen = new TreeSet<>(IN_HASH.keySet());
        for (Class<?> type : ReachableTypes.from(MultipartDecoder.class).own()) {
            assertTrue(Modifier.isFinal(type.getModifiers()), () -> type + " can have subclasses with other fields");
            if (unseen.remove(type.getSimpleName())) {
                Set<String> declared = ReachableTypes.fields(type).stream()
                        .map(Field::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
                assertEquals(decided(type), declared, type.getSimpleName());
            } else { // what never changes needs no hash
                Set<String> changing = SharedTypesTest.notFinal(type);
                changing.removeAll(SharedTypesTest.explained());
                assertEquals(Set.of(), changing);
            }
        }
        assertEquals(Set.of(), unseen, "no such type in a decoder");
    }

    private static Set<String> decided(Class<?> type) {
        List<String> both = new ArrayList<>(IN_HASH.get(type.getSimpleName()));
        both.addAll(NO_INFLUENCE.get(type.getSimpleName()));
        Set<String> decided = new TreeSet<>(both);
        assertEquals(both.size(), decided.size(), () -> "decided twice in " + type);
        return decided;
    }

    @Test
    void skippedTypes_hideNoFields() {
        assertEquals(FOREIGN, ReachableTypes.from(MultipartDecoder.class).foreign());
    }

    /**
     * The contents of arrays: the bytes of a header section, the positions of its fields, and blanks that may turn out
     * to be data.
     */
    @Test
    void heldBytes_areInTheHash() {
        String section = "--x\r\nContent-Disposition: form-data; name=";
        assertNotEquals(hashAfter(Preset.STANDARD, section + "a", 100), hashAfter(Preset.STANDARD, section + "b", 100));
        assertNotEquals(
                hashAfter(Preset.COMPATIBLE, section + "a\r\n\r\n\r\n--x ", 100),
                hashAfter(Preset.COMPATIBLE, section + "a\r\n\r\n\r\n--x\t", 100));
    }

    /** Changes the primitive fields in the hash one by one; each change must change the hash. */
    @Test
    void everyFieldInTheHash_changesIt() throws ReflectiveOperationException {
        String head = "--x\r\nContent-Disposition: form-data; name=a\r\nX: ";
        for (String body :
                new String[] {head, head + "y\r\n\r\ndata", head + "y\r\n\r\ndata\r\n-", head + "y\r\n\r\ndata\r\n--x "
                }) {
            Decoding decoding = new Decoding(Boundary.of("x"), MultipartOptions.defaults());
            decoding.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            MultipartDecoder decoder = decoding.decoder();
            for (String name : IN_HASH.get("MultipartDecoder")) {
                Field field = MultipartDecoder.class.getDeclaredField(name);
                field.setAccessible(true);
                Object owner = field.get(decoder);
                if (field.getType().isPrimitive()) {
                    assertNoticed(decoder, decoder, field);
                } else if (IN_HASH.containsKey(
                        owner == null ? "" : owner.getClass().getSimpleName())) {
                    assertFieldsNoticed(decoder, owner);
                }
            }
            decoder.close();
        }
    }

    @Test
    void failure_isInTheHash() {
        long colon = hashAfter(Preset.STANDARD, "--x\r\n:", 100);
        assertEquals(colon, hashAfter(Preset.STANDARD, "--x\r\n:", 1));
        assertNotEquals(colon, hashAfter(Preset.STANDARD, "--x\r\na\n", 100), "another offset");
        assertNotEquals(colon, hashAfter(Preset.STANDARD, "--xxx\r\n", 100), "another reason");
    }

    @Test
    void reportedDeviations_areInTheHash() {
        String body = "preamble\r\n--x\r\n" + Verdict.A + "\r\n";
        Preset silent = Preset.STANDARD.accepting(Deviation.PREAMBLE);
        assertNotEquals(hashAfter(silent, body, 100), hashAfter(Preset.STANDARD, body, 100));
        assertEquals(hashAfter(Preset.STANDARD, body, 1), hashAfter(Preset.STANDARD, body, 100));
    }

    @Test
    void state_afterTheEnd_hasTheSameHash() {
        List<Long> ends = new ArrayList<>();
        for (int chunkSize : new int[] {1, 100}) {
            MultipartDecoder decoder =
                    fed(Preset.STANDARD, "--x--\r\n", chunkSize).decoder();
            long before = new StateHash().add(decoder).value();
            decoder.finish();
            assertDoesNotThrow(decoder::next);
            ends.add(new StateHash().add(decoder).value());
            decoder.close();
            ends.add(new StateHash().add(decoder).value());
            assertNotEquals(before, ends.get(0));
            assertNotEquals(ends.get(0), ends.get(1));
        }
        assertEquals(ends.subList(0, 2), ends.subList(2, 4));
    }

    private static long hashAfter(Preset preset, String body, int chunkSize) {
        MultipartDecoder decoder = fed(preset, body, chunkSize).decoder();
        long hash = new StateHash().add(decoder).value();
        decoder.close();
        return hash;
    }

    private static Decoding fed(Preset preset, String body, int chunkSize) {
        Decoding decoding = new Decoding(
                Boundary.of("x"), MultipartOptions.builder().preset(preset).build());
        byte[] bytes = Decoding.bytes(body);
        for (int from = 0; from < bytes.length; from += chunkSize) {
            decoding.feed(Unpooled.wrappedBuffer(bytes, from, Math.min(chunkSize, bytes.length - from)));
        }
        return decoding;
    }

    private static void assertFieldsNoticed(MultipartDecoder decoder, Object owner)
            throws ReflectiveOperationException {
        for (String name : IN_HASH.get(owner.getClass().getSimpleName())) {
            Field field = owner.getClass().getDeclaredField(name);
            if (field.getType().isPrimitive() && !CONDITIONAL.contains(name)) {
                field.setAccessible(true);
                assertNoticed(decoder, owner, field);
            }
        }
    }

    private static void assertNoticed(MultipartDecoder decoder, Object owner, Field field)
            throws IllegalAccessException {
        long before = new StateHash().add(decoder).value();
        Object value = field.get(owner);
        if (value instanceof Boolean flag) {
            field.set(owner, !flag);
        } else if (value instanceof Long number) {
            field.set(owner, number + 1);
        } else {
            boolean isLength =
                    field.getName().equals("scanned") || field.getName().equals("count");
            field.set(owner, (int) value + (isLength ? -1 : 1));
        }
        long after = new StateHash().add(decoder).value();
        field.set(owner, value);
        assertNotEquals(before, after, field.toString());
        assertEquals(before, new StateHash().add(decoder).value(), "put back");
    }
}
