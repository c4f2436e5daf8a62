package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The text fields of a form by name, in order. Their memory is charged to the memory budget. */
final class FieldTexts implements AutoCloseable {
    static final FieldTexts NONE =
            new FieldTexts(Map.of(), MemoryBudget.unlimited().open());

    private static final int BYTES_PER_CHARACTER = 2;

    final Map<String, List<String>> values;
    private final MemoryBudget.Account account;

    private FieldTexts(Map<String, List<String>> values, MemoryBudget.Account account) {
        this.values = values;
        this.account = account;
    }

    /** @param charset the charset if neither the part nor the form names one; null for UTF-8 */
    static FieldTexts of(MultipartForm form, FormOptions options, @Nullable Charset charset) throws IOException {
        List<FormPart> fields = form.fields();
        if (fields.isEmpty()) {
            return NONE;
        }
        long size = 0;
        for (FormPart field : fields) {
            size += field.size();
            if (size > options.maxInMemoryBytes()) {
                throw MultipartException.because(Reason.IN_MEMORY_TOO_LARGE)
                        .part(field.head().index(), field.name())
                        .at(field.head().offset())
                        .limit(options.maxInMemoryBytes())
                        .build();
            }
        }
        MemoryBudget.Account account = options.memory().open();
        try {
            account.reserve(size * BYTES_PER_CHARACTER);
            Charset unnamed = form.part("_charset_") == null ? charset : null;
            Map<String, List<String>> values = new LinkedHashMap<>();
            for (FormPart field : fields) {
                values.computeIfAbsent(field.name(), name -> new ArrayList<>(1)).add(text(field, unnamed));
            }
            return new FieldTexts(values, account);
        } catch (IOException | RuntimeException | Error e) {
            account.close();
            throw e;
        }
    }

    private static String text(FormPart field, @Nullable Charset unnamed) throws IOException {
        String text = field.text(); // also checks the limit
        if (unnamed == null
                || unnamed.equals(field.charset())
                || field.head().contentTypeParameter("charset") != null) {
            return text;
        }
        try (InputStream in = field.inputStream()) {
            return new String(in.readAllBytes(), unnamed);
        }
    }

    List<String> of(String name) {
        return values.getOrDefault(name, List.of());
    }

    @Override
    public void close() {
        account.close();
    }
}
