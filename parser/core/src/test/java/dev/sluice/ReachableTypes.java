package dev.sluice;

import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The types that are reachable from given types through the declared types of fields. */
final class ReachableTypes {
    private final Set<Class<?>> own = new TreeSet<>(Comparator.comparing(Class::getName));
    private final Set<Class<?>> foreign = new TreeSet<>(Comparator.comparing(Class::getName));

    private ReachableTypes() {}

    static ReachableTypes from(Class<?>... roots) {
        ReachableTypes types = new ReachableTypes();
        for (Class<?> root : roots) {
            types.visit(root);
        }
        return types;
    }

    /** {@return the reachable types of Sluice} */
    Set<Class<?>> own() {
        return own;
    }

    /** {@return the other reachable types, whose fields are not followed; without arrays and primitive types} */
    Set<Class<?>> foreign() {
        return foreign;
    }

    /** {@return the instance fields that the type declares} */
    static List<Field> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                fields.add(field);
            }
        }
        return fields;
    }

    private void visit(Type type) {
        if (type instanceof Class<?> plain) {
            visitClass(plain);
        } else if (type instanceof ParameterizedType parameterized) {
            visit(parameterized.getRawType());
            visitAll(parameterized.getActualTypeArguments());
        } else if (type instanceof GenericArrayType array) {
            visit(array.getGenericComponentType());
        } else if (type instanceof WildcardType wildcard) {
            visitAll(wildcard.getUpperBounds());
        } else if (type instanceof TypeVariable<?> variable) {
            visitAll(variable.getBounds());
        } else {
            throw new AssertionError("a type of another kind: " + type);
        }
    }

    private void visitAll(Type[] types) {
        for (Type type : types) {
            visit(type);
        }
    }

    private void visitClass(Class<?> type) {
        if (type.isArray()) {
            visit(type.getComponentType());
        } else if (!type.getName().startsWith("dev.sluice.")) {
            if (!type.isPrimitive()) {
                foreign.add(type);
            }
        } else if (own.add(type)) {
            if (!type.isEnum() && !type.isRecord() && type.getGenericSuperclass() != null) {
                visitSuperclass(type.getGenericSuperclass());
            }
            for (Field field : fields(type)) {
                visit(field.getGenericType());
            }
        }
    }

    private void visitSuperclass(Type type) {
        if (type != Object.class) {
            visit(type);
        }
    }
}
