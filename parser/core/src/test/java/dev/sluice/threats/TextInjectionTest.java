package dev.sluice.threats;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PushedForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Section L of threats.md, injection through text: messages quote only a few characters of the input, and escape them. */
class TextInjectionTest {
    private static final String MARK = "%{(#_='multipart/form-data').(#cmd='id')}${jndi:x}";
    private int messages;

    /** {@return bodies with {@code mark} in every place in which a client can send text} */
    private static List<String> bodies(String mark) {
        String head = "--x\r\nContent-Disposition: ";
        return List.of(
                mark,
                mark + "\r\n--x" + mark,
                "--x" + mark + "\r\n",
                "--x\r\n" + mark + "\r\n\r\n",
                "--x\r\n" + mark + ": " + mark + "\r\n\r\n",
                "--x\r\nX: " + mark + "\r\n" + mark + "\r\n\r\n",
                "--x\r\nX: " + mark + "\r\n\r\n",
                "--x\r\nX: " + mark + "\u0000" + mark + "\r\n\r\n",
                "--x\r\nX: " + mark + "\r" + mark + "\r\n\r\n",
                "--x\r\nX: " + mark.repeat(300) + "\r\n\r\n",
                head + mark + "\r\n\r\n",
                head + "form-data; " + mark + "\r\n\r\n",
                head + "form-data; name=" + mark + "; name=" + mark + "\r\n\r\n",
                head + "form-data; name=\"" + mark + "\" " + mark + "\r\n\r\n",
                head + "form-data; name=\"" + mark + "\r\n\r\n",
                head + "form-data; filename=\"" + mark + "\"\r\n\r\n",
                head + "form-data; name=a; filename*=" + mark + "\r\n\r\n",
                head + "form-data; name=a; filename*=UTF-8''" + mark + "; filename=\"" + mark + "\"\r\n\r\n",
                head + "form-data; name=a\r\nContent-Transfer-Encoding: " + mark + "\r\n\r\n",
                head + "form-data; name=a\r\nContent-Type: multipart/" + mark + "\r\n\r\n",
                head + "form-data; name=a\r\nContent-Type: text/plain; charset=" + mark + "\r\n\r\n" + mark
                        + "\r\n--x--" + mark,
                head + "form-data; name=a\r\nContent-Type: multipart/mixed; boundary=\"" + mark + "\"\r\n\r\n" + mark,
                head + "form-data; name=a\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y" + mark,
                head + "form-data; name=\"" + mark + "\"\r\n\r\n" + mark + "\r\n--x--\r\n" + mark.repeat(100));
    }

    private static List<String> contentTypes(String mark) {
        return List.of(
                mark,
                "multipart/" + mark,
                "multipart/form-data" + mark,
                "multipart/form-data; " + mark,
                "multipart/form-data; boundary=" + mark,
                "multipart/form-data; boundary=\"" + mark + "\"",
                "multipart/form-data; boundary=\"" + mark,
                "multipart/form-data; boundary=" + mark.repeat(9),
                "multipart/form-data; boundary=a; boundary=" + mark,
                "multipart/form-data; boundary=a " + mark,
                "multipart/form-data; " + mark + "=" + mark + "; boundary=");
    }

    private void assertHarmless(String mark, String text) {
        messages++;
        assertFalse(text.contains(mark), text);
        assertFalse(text.contains("cmd") || text.contains("jndi") || text.contains("(#"), text);
        assertTrue(text.length() <= 200, text.length() + " characters: " + text);
        assertTrue(text.chars().allMatch(c -> c >= ' ' && c < 0x7F), text);
    }

    /** Checks that the field name in a message is escaped and shortened, and that the rest of the message is harmless. */
    private void assertHarmless(String mark, MultipartException e) {
        String text = e.getMessage();
        if (e.fieldName() != null) {
            int from = text.indexOf(" \"", text.indexOf("part " + e.partIndex() + " "));
            int to = text.lastIndexOf("\", offset ");
            String quoted = text.substring(from + 2, to);
            assertTrue(quoted.length() <= 64 + "...".length(), text);
            assertTrue(
                    quoted.chars()
                            .allMatch(c -> !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT),
                    text);
            text = text.substring(0, from) + text.substring(to + 1);
        }
        assertHarmless(mark, text);
    }

    private void readAll(String mark, String body, Preset preset) throws IOException {
        MultipartOptions options = MultipartOptions.builder().preset(preset).build();
        for (String type : List.of("multipart/form-data", "multipart/mixed")) {
            Boundary boundary = Boundary.anyMultipart(type + "; boundary=x");
            try (MultipartReader reader =
                    MultipartReader.create(new ByteArrayInputStream(Run.bytes(body)), boundary, options)) {
                for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                    assertHarmless(mark, part.head().toString());
                    part.text();
                }
                reader.deviations().forEach(deviation -> assertHarmless(mark, deviation.toString()));
            } catch (MultipartException e) {
                assertHarmless(mark, e);
            }
        }
        try (MultipartForm form = PushedForm.read(
                new ByteArrayInputStream(Run.bytes(body)),
                Boundary.of("x"),
                FormOptions.inMemory(MemoryBudget.unlimited())
                        .preset(preset)
                        .decider(part -> {
                            assertHarmless(mark, part.toString());
                            return PartDecision.store();
                        })
                        .build())) {
            form.parts().forEach(part -> assertHarmless(mark, part.head() + " " + part));
        } catch (MultipartException e) {
            assertHarmless(mark, e);
        }
    }

    private void assertMessagesAreHarmless(String mark) throws IOException {
        for (Preset preset : Run.PRESETS) {
            for (String body : bodies(mark)) {
                readAll(mark, body, preset);
            }
            for (String contentType : contentTypes(mark)) {
                try {
                    Boundary.anyMultipart(contentType, preset);
                } catch (MultipartException e) {
                    assertHarmless(mark, e);
                }
            }
        }
        assertTrue(messages > 200, "messages: " + messages);
    }

    @Test
    void cve_2017_5638_messages_containNoClientInputExceptFieldName() throws IOException {
        assertMessagesAreHarmless(MARK);
    }

    @Test
    void cve_2016_1000031_formClasses_areNotSerializable() {
        noClasses()
                .that()
                .areNotAssignableTo(Throwable.class)
                .and()
                .areNotAssignableTo(Enum.class)
                .should()
                .beAssignableTo(Serializable.class)
                .check(Compiled.CLASSES);
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(ObjectInputStream|ObjectOutputStream|Externalizable)")
                .check(Compiled.CLASSES);
    }

    @Test
    void cve_2026_42507_messages_doNotContainControlCharacters() throws IOException {
        for (String mark : List.of(
                "a\u001b[2Jcmd",
                "\u00e2\u0080\u00aecmd",
                "a\r\n\r\n<script>cmd",
                "\ncmd: forged",
                "\u0000cmd",
                "\u0085cmd",
                "\tcmd",
                "\u007fcmd")) {
            assertMessagesAreHarmless(mark);
        }
    }
}
