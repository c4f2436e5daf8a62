package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import java.util.function.UnaryOperator;

/** A change of the form options for one path, or for a path and everything below it. */
record PathOptions(String pattern, UnaryOperator<FormOptions.Builder> change) {
    private static final String ALL_BELOW = "/*";

    PathOptions {
        check(pattern);
    }

    /** @throws IllegalArgumentException if {@code pattern} is neither a path nor a path followed by {@code /*} */
    static void check(String pattern) {
        String path = isPrefix(pattern) ? pattern.substring(0, pattern.length() - ALL_BELOW.length()) : pattern;
        if (!pattern.startsWith("/") || path.indexOf('*') >= 0) {
            throw new IllegalArgumentException("the pattern " + pattern
                    + " is invalid: use a path such as /upload, or a prefix such as /upload/*");
        }
    }

    /** Orders patterns: exact paths first, then prefixes, the longest first. */
    static int mostSpecificFirst(PathOptions one, PathOptions other) {
        int exactFirst = Boolean.compare(isPrefix(one.pattern), isPrefix(other.pattern));
        return exactFirst != 0 ? exactFirst : Integer.compare(other.pattern.length(), one.pattern.length());
    }

    private static boolean isPrefix(String pattern) {
        return pattern.endsWith(ALL_BELOW);
    }

    /** @param path the path of the request, relative to the web application */
    boolean matches(String path) {
        if (!isPrefix(pattern)) {
            return path.equals(pattern);
        }
        int length = pattern.length() - ALL_BELOW.length();
        return path.regionMatches(0, pattern, 0, length) && (path.length() == length || path.charAt(length) == '/');
    }
}
