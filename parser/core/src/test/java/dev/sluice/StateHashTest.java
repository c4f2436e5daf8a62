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
 * The split proof is valid only if its hash covers all state. Every field of the decoder and of all reachable objects is either in the
 * hash, or cannot influence later chunks, for a reason given here. A new field fails this test until it is listed.
 */
class StateHashTest {
    /** For each type, the fields in the hash, and the other fields with the reason why they are not in the hash. */
    private static final String FIELDS = """
            == MultipartDecoder
            in the hash: state search offset partIndex partOpen partOffset partSize preambleAt delimiterAt delimiterAfterBareLf
            in the hash: partAfterBareLf epilogueAt beginning padding paddingBytes finished failure section rules deviations
            never changes: delimiter boundary options acceptBareLf watchLookalikes
            belong to the chunk being read, and there is none when input is needed: chunk position limit beyondBodyLimit
            belong to the last event, and are cleared by the next call: delimiterText data dataIndex dataLength
            is equal to partOpen after the next call: headersReadable
            is determined by the bytes of the section: head
            ends the decoding, which the state in the hash shows: broken
            == HeaderSection
            in the hash: bytes state fields count scanned totalBefore limit endOfSection lineStart offset
            never changes: deviations formData boundary maxFields maxSize maxTotalSize charset
            equal to partIndex of the decoder, which is in the hash: part
            contain the same positions as "fields": common isCommon shared
            == PartRules
            in the hash: files
            never changes: options formData section deviations
            are determined by the bytes of the section: disposition names part dispositionField typeField encodingField origins
            are determined by the bytes of the section: contentLength lengthField secondLengthField
            == PartNames
            never changes: options
            are determined by the bytes of the section: disposition hasFilename otherName otherFilename
            are determined by the bytes of the section: extendedFilename found
            == Deviations
            in the hash: reported count outside inside part
            never changes: preset
            == ReportedDeviation
            in the hash: kind partIndex offset
            == MultipartException
            in the hash: reason offset partIndex
            parts of the message, which is in the hash: sentence httpStatus setting limit seen fieldName
            == DelimiterSearch
            in the hash: matchEnd matchStart watching lookalike
            never changes: delimiter text acceptBareLf length dashToLast dashPattern lastPattern stride maxKernelIndex
            belongs to the range searched last: rangeStart
            belong to the failed match that was reported last: failedStart failedEnd
            choose between modes that find the same: searched gramsResumeAt passesResumeAt
            == Accumulation
            never changes: allocator initialCapacity
            the place of bytes that are in the hash: memory array arrayOffset capacity
            equal to "scanned" of the section: size
            set only when the decoding has ended: closed
            == CommonHeaders
            the same positions as "fields" of the section, set before each use: nameStart nameEnd filenameStart filenameEnd
            the same positions as "fields" of the section, set before each use: dispositionEnd typeStart typeEnd blankLine
            == DispositionParser
            never changes: preset lenient
            belong to the field being parsed, which never waits for input: at end valueStart valueEnd escaped
            set again for each part: bytes name extendedName nameContinuation found foundKinds continuations
            set again for each part: filename extendedFilename continuation unknown
            == Parameter
            set again for each part: at from to hasEscapes
            never changes: this$0
            == ChunkMemory
            belong to the chunk being read, and there is none when input is needed: chunk inner array view shift viewLimit start end recordsAccess
            a cache, which is checked before each use: cachedView cachedAddress
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

    /** Types whose fields are not inspected, such as buffers and strings. The fields that refer to them are listed. */
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

    /** Fields that are in the hash only while they are in use: during a match, or after a deviation in the part. */
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
                assertEquals(listed(type), declared, type.getSimpleName());
            } else { // objects that never change need no hash
                Set<String> changing = SharedTypesTest.notFinal(type);
                changing.removeAll(SharedTypesTest.explained());
                assertEquals(Set.of(), changing);
            }
        }
        assertEquals(Set.of(), unseen, "these types do not occur in a decoder");
    }

    private static Set<String> listed(Class<?> type) {
        List<String> both = new ArrayList<>(IN_HASH.get(type.getSimpleName()));
        both.addAll(NO_INFLUENCE.get(type.getSimpleName()));
        Set<String> listed = new TreeSet<>(both);
        assertEquals(both.size(), listed.size(), () -> "listed twice in " + type);
        return listed;
    }

    @Test
    void skippedTypes_hideNoFields() {
        assertEquals(FOREIGN, ReachableTypes.from(MultipartDecoder.class).foreign());
    }

    /** The contents of arrays: the bytes of a header section, the positions of its fields, and blanks that may turn out to be data. */
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
    void changeOfFieldInTheHash_changesHash() throws ReflectiveOperationException {
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
        assertNotEquals(colon, hashAfter(Preset.STANDARD, "--x\r\na\n", 100), "the hash lacks the offset");
        assertNotEquals(colon, hashAfter(Preset.STANDARD, "--xxx\r\n", 100), "the hash lacks the reason");
    }

    @Test
    void reportedDeviations_areInTheHash() {
        String body = "preamble\r\n--x\r\n" + Verdict.A + "\r\n";
        Preset silent = Preset.STANDARD.accepting(Deviation.PREAMBLE);
        assertNotEquals(hashAfter(silent, body, 100), hashAfter(Preset.STANDARD, body, 100));
        assertEquals(hashAfter(Preset.STANDARD, body, 1), hashAfter(Preset.STANDARD, body, 100));
    }

    @Test
    void state_afterTheEnd_doesNotDependOnChunks() {
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
        assertEquals(before, new StateHash().add(decoder).value(), "the test did not restore the field");
    }
}
