package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Executable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks of a module's metadata for GraalVM's native-image: it must be well formed, and its classes, members and
 * resources must exist.
 */
public final class NativeImage {
    private static final Set<String> OF_A_TYPE = Set.of("name", "condition", "methods", "queryAllPublicMethods");
    private static final Set<String> OF_A_RESOURCE = Set.of("pattern", "condition");

    private NativeImage() {}

    /**
     * {@return the registered types: {@code type}, and {@code type#method[types]} for members}
     *
     * @param module a class of the module
     */
    public static Set<String> types(Class<?> module, String artifact) throws Exception {
        Set<String> registered = new TreeSet<>();
        for (JsonNode entry : read(module, artifact, "reflect-config.json")) {
            assertTrue(OF_A_TYPE.containsAll(names(entry)), entry::toString);
            requireReached(module, entry);
            Class<?> type = find(module, entry.required("name").textValue());
            registered.add(type.getName());
            for (JsonNode method : entry.path("methods")) {
                List<Class<?>> parameters = new ArrayList<>();
                for (JsonNode parameter : method.required("parameterTypes")) {
                    parameters.add(find(module, parameter.textValue()));
                }
                Class<?>[] taken = parameters.toArray(Class<?>[]::new);
                String name = method.required("name").textValue();
                Executable found = name.equals("<init>")
                        ? type.getDeclaredConstructor(taken)
                        : type.getDeclaredMethod(name, taken);
                registered.add(type.getName() + "#" + name + Arrays.toString(found.getParameterTypes()));
            }
        }
        assertFalse(registered.isEmpty());
        return registered;
    }

    /** {@return the resources included in the image; each is listed by its exact name and must exist} */
    public static Set<String> resources(Class<?> module, String artifact) throws Exception {
        Set<String> registered = new TreeSet<>();
        JsonNode file = read(module, artifact, "resource-config.json");
        for (JsonNode entry : file.required("resources").required("includes")) {
            assertTrue(OF_A_RESOURCE.containsAll(names(entry)), entry::toString);
            requireReached(module, entry);
            String pattern = entry.required("pattern").textValue();
            assertTrue(pattern.startsWith("\\Q") && pattern.endsWith("\\E"), pattern);
            String name = pattern.substring(2, pattern.length() - 2);
            assertTrue(module.getClassLoader().getResource(name) != null, name);
            registered.add(name);
        }
        assertFalse(registered.isEmpty());
        return registered;
    }

    private static JsonNode read(Class<?> module, String artifact, String file) throws IOException {
        String path = "/META-INF/native-image/dev.sluice/" + artifact + "/" + file;
        try (var in = module.getResourceAsStream(path)) {
            assertTrue(in != null, path);
            return new ObjectMapper().readTree(in);
        }
    }

    /** Requires a condition, so that the entry adds nothing to an image that does not use the module. */
    private static void requireReached(Class<?> module, JsonNode entry) throws ClassNotFoundException {
        Class<?> reached = find(
                module, entry.required("condition").required("typeReachable").textValue());
        assertTrue(reached.getName().startsWith("dev.sluice."), entry::toString);
    }

    private static Set<String> names(JsonNode entry) {
        Set<String> names = new TreeSet<>();
        entry.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static Class<?> find(Class<?> module, String name) throws ClassNotFoundException {
        return Class.forName(name, false, module.getClassLoader());
    }
}
