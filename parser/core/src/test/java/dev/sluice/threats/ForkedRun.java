package dev.sluice.threats;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * A run of {@code Class} or {@code Class#method} arguments in a separate JVM. The exit code distinguishes whether all passed, or each
 * of them failed.
 */
final class ForkedRun {
    static final int PASSED = 0;
    static final int FAILED = 7;
    static final int SOME_FAILED = 8;
    static final int NO_TESTS = 9;

    private ForkedRun() {}

    public static void main(String[] arguments) throws ClassNotFoundException {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String argument : arguments) {
            selectors.addAll(selectors(argument));
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        Set<String> failed = new HashSet<>();
        TestExecutionListener failures = new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                result.getThrowable().ifPresent(e -> {
                    System.out.println("failed: " + test.getDisplayName() + ": " + e);
                    test.getSource().ifPresent(source -> failed.addAll(names(source)));
                });
            }
        };
        try (LauncherSession session = LauncherFactory.openSession()) {
            session.getLauncher()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(selectors)
                                    .build(),
                            summary,
                            failures);
        }
        boolean none = summary.getSummary().getTestsFoundCount() == 0;
        boolean each = failed.containsAll(List.of(arguments));
        System.exit(none ? NO_TESTS : failed.isEmpty() ? PASSED : each ? FAILED : SOME_FAILED);
    }

    private static List<String> names(TestSource source) {
        if (source instanceof MethodSource method) {
            return List.of(method.getClassName(), method.getClassName() + '#' + method.getMethodName());
        }
        return source instanceof ClassSource type ? List.of(type.getClassName()) : List.of();
    }

    private static List<DiscoverySelector> selectors(String argument) throws ClassNotFoundException {
        int hash = argument.indexOf('#');
        if (hash < 0) {
            return List.of(selectClass(argument));
        }
        Class<?> type = Class.forName(argument.substring(0, hash), false, ForkedRun.class.getClassLoader());
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(argument.substring(hash + 1)) && !method.isSynthetic()) {
                selectors.add(selectMethod(type, method));
            }
        }
        return selectors;
    }
}
