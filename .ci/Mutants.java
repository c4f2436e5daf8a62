import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * The comparison of the mutants that survived with the list of the accepted ones: {@code java Mutants.java LIST MODULE...}. In the list, a
 * line that starts with {@code ==} gives the reason for the lines below it. Each of those has the form {@code COUNT CLASS.METHOD | CHANGE |
 * SOURCE LINE}.
 */
final class Mutants {
    private static final double LEAST = 0.95;

    private record Tally(Map<String, Integer> survivors, Map<String, Integer> timedOut, int killed, int all) {}

    public static void main(String[] args) throws Exception {
        Map<String, Integer> allowed = allowed(Path.of(args[0]));
        Map<String, Integer> survivors = new TreeMap<>();
        Map<String, Integer> timedOut = new TreeMap<>();
        int killed = 0;
        int all = 0;
        for (int i = 1; i < args.length; i++) {
            Tally tally = tally(Path.of(args[i]));
            tally.survivors().forEach((mutant, count) -> survivors.merge(mutant, count, Integer::sum));
            tally.timedOut().forEach((mutant, count) -> timedOut.merge(mutant, count, Integer::sum));
            killed += tally.killed();
            all += tally.all();
            System.out.printf("%s: %d of %d mutants killed%n", args[i], tally.killed(), tally.all());
        }
        System.out.printf("%d of %d mutants killed, %.1f %%%n", killed, all, 100.0 * killed / all);
        List<String> complaints = new ArrayList<>();
        if (killed < LEAST * all) {
            complaints.add("fewer than 95 % of the mutants were killed");
        }
        survivors.forEach((mutant, count) -> {
            if (allowed.getOrDefault(mutant, 0) < count) {
                complaints.add("survives more often than listed: " + count + " " + mutant);
            }
        });
        allowed.forEach((mutant, count) -> {
            // On a busy machine, any mutant may time out. But if a test fails for a mutant that no test can kill, the run itself is broken,
            // for example by a missing jar.
            if (survivors.getOrDefault(mutant, 0) + timedOut.getOrDefault(mutant, 0) < count) {
                complaints.add("is listed, but was killed: " + count + " " + mutant);
            }
        });
        complaints.forEach(System.out::println);
        if (!complaints.isEmpty()) {
            System.exit(1);
        }
    }

    private static Map<String, Integer> allowed(Path list) throws IOException {
        Map<String, Integer> allowed = new TreeMap<>();
        for (String line : Files.readAllLines(list)) {
            if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("==")) {
                String[] words = line.strip().split(" ", 2);
                allowed.merge(words[1], Integer.valueOf(words[0]), Integer::sum);
            }
        }
        return allowed;
    }

    private static Tally tally(Path module) throws Exception {
        NodeList mutants = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(module.resolve("target/pit-reports/mutations.xml").toFile())
                .getElementsByTagName("mutation");
        Map<String, Integer> survivors = new TreeMap<>();
        Map<String, Integer> timedOut = new TreeMap<>();
        int killed = 0;
        for (int i = 0; i < mutants.getLength(); i++) {
            Element mutant = (Element) mutants.item(i);
            if (mutant.getAttribute("status").equals("TIMED_OUT")) {
                timedOut.merge(describe(module, mutant), 1, Integer::sum);
            }
            if (mutant.getAttribute("detected").equals("true")) {
                killed++;
            } else {
                survivors.merge(describe(module, mutant), 1, Integer::sum);
            }
        }
        return new Tally(survivors, timedOut, killed, mutants.getLength());
    }

    private static String describe(Path module, Element mutant) throws IOException {
        String type = text(mutant, "mutatedClass");
        Path source = module.resolve("src/main/java")
                .resolve(type.substring(0, type.lastIndexOf('.')).replace('.', '/'))
                .resolve(text(mutant, "sourceFile"));
        String line = Files.readAllLines(source).get(Integer.parseInt(text(mutant, "lineNumber")) - 1);
        return "%s.%s | %s | %s"
                .formatted(
                        type.substring(type.lastIndexOf('.') + 1),
                        text(mutant, "mutatedMethod"),
                        text(mutant, "description"),
                        line.strip());
    }

    private static String text(Element mutant, String tag) {
        return mutant.getElementsByTagName(tag).item(0).getTextContent();
    }
}
