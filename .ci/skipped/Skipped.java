import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Prints one line that counts the skipped tests by the program that they need. Prints nothing if no test was skipped. Reads
 * the reports of Surefire. Usage: {@code java Skipped.java ROOT START}, where START is the instant at which the build started:
 * older reports are from another build.
 */
final class Skipped {
    /** Finds the name of the program in the reason of a skipped test, which {@code dev.sluice.testkit.Installed} writes. */
    private static final Pattern NOT_INSTALLED = Pattern.compile("Not installed: (.+)");

    private Skipped() {}

    public static void main(String[] arguments) throws Exception {
        Instant start = Instant.parse(arguments[1]);
        Map<String, Integer> skipped = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (Path report : reports(Path.of(arguments[0]))) {
            if (!Files.getLastModifiedTime(report).toInstant().isBefore(start)) {
                count(report, skipped);
            }
        }
        if (!skipped.isEmpty()) {
            System.out.println(skipped.entrySet().stream()
                    .map(program -> program.getKey() + " (" + program.getValue()
                            + (program.getValue() == 1 ? " test)" : " tests)"))
                    .collect(Collectors.joining(", ", "Skipped, because not installed: ", "")));
        }
    }

    private static List<Path> reports(Path root) throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                5, // group, module, target, surefire-reports, report
                (file, attributes) -> file.getParent().endsWith("target/surefire-reports")
                        && file.getFileName().toString().matches("TEST-.*\\.xml"))) {
            return files.toList();
        }
    }

    private static void count(Path report, Map<String, Integer> skipped) throws Exception {
        NodeList reasons = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(report.toFile())
                .getElementsByTagName("skipped");
        for (int i = 0; i < reasons.getLength(); i++) {
            Element reason = (Element) reasons.item(i);
            Matcher program = NOT_INSTALLED.matcher(reason.getAttribute("message") + '\n' + reason.getTextContent());
            if (program.find()) {
                skipped.merge(program.group(1), 1, Integer::sum);
            }
        }
    }
}
