package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.buffer.Delimiter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Objects that decoders on several threads share are published safely by final fields (Java Language Specification, section 17.5). On x86,
 * a race between threads would not reveal a field that is not final, because the processor preserves the order of writes. This test
 * therefore inspects the fields of all reachable types.
 */
class SharedTypesTest {
    private static final Class<?>[] SHARED = {Boundary.class, Delimiter.class, MultipartOptions.class, Preset.class};

    /** Fields that are not final, with the reason why all threads may read them. */
    private static final Map<String, String> NOT_FINAL = Map.of(
            "Delimiter.grams",
            "volatile: the set is complete before the field is written, and never changes. A thread that reads the field sees all"
                    + " earlier writes (section 17.4.5). If two threads create a set, both sets are equal");

    /** Final fields with mutable objects, with the reason why the objects do not change. */
    private static final Map<String, String> CHANGEABLE = Map.of(
            "Result.deviations", "an unmodifiable list",
            "Delimiter.text", "written only before the constructor is called, by its caller",
            "Delimiter.constant", "read-only, and never retained or released",
            "Grams.slots", "written only before the constructor is called, by its caller",
            "Preset.verdicts", "created by the constructor, and never written",
            "MultipartOptions.allocator", "belongs to the caller; allocators are made to be shared");

    private static final Set<Class<?>> UNCHANGEABLE = Set.of(String.class, Boolean.class, Charset.class);

    @Test
    void sharedFields_areFinalAndImmutable() {
        Set<String> notFinal = new TreeSet<>();
        Set<String> changeable = new TreeSet<>();
        for (Class<?> type : ReachableTypes.from(SHARED).own()) {
            assertTrue(Modifier.isFinal(type.getModifiers()), () -> type + " can have subclasses with other fields");
            notFinal.addAll(notFinal(type));
            for (Field field : ReachableTypes.fields(type)) {
                if (!isUnchangeable(field.getType())) {
                    changeable.add(name(field));
                }
            }
        }
        assertEquals(NOT_FINAL.keySet(), notFinal);
        assertEquals(CHANGEABLE.keySet(), changeable);
    }

    @Test
    void sharedTypes_includeReferencedTypes() {
        Set<Class<?>> own = ReachableTypes.from(SHARED).own();
        assertTrue(own.containsAll(List.of(SHARED)), own::toString);
        assertTrue(own.containsAll(List.of(ReportedDeviation.class, Deviation.class)), own::toString);
        assertEquals(
                Set.of(String.class, Boolean.class, Charset.class, List.class, ByteBuf.class, ByteBufAllocator.class),
                ReachableTypes.from(SHARED).foreign());
    }

    @Test
    void fieldThatIsNotFinal_isVolatile() throws ReflectiveOperationException {
        Field grams = Delimiter.class.getDeclaredField("grams");
        assertTrue(Modifier.isVolatile(grams.getModifiers()), grams::toString);
        assertEquals(Set.of(name(grams)), NOT_FINAL.keySet());
    }

    static Set<String> notFinal(Class<?> type) {
        return ReachableTypes.fields(type).stream()
                .filter(field -> !Modifier.isFinal(field.getModifiers()))
                .map(SharedTypesTest::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** {@return the fields in {@link #NOT_FINAL}} */
    static Set<String> explained() {
        return NOT_FINAL.keySet();
    }

    private static boolean isUnchangeable(Class<?> type) {
        return type.isPrimitive()
                || type.isEnum()
                || UNCHANGEABLE.contains(type)
                || ReachableTypes.from(SHARED).own().contains(type);
    }

    private static String name(Field field) {
        return field.getDeclaringClass().getSimpleName() + "." + field.getName();
    }
}
