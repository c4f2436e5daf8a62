package dev.sluice.webflux;

import dev.sluice.PartHead;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.HttpHeaders;

/** Header fields by those methods only that are the same in Spring 6 and 7, where they are no map any more. */
final class HeaderFields {
    private HeaderFields() {}

    /** {@return the values of all fields called {@code name}, as they came} */
    static List<String> all(HttpHeaders headers, String name) {
        List<String> all = new ArrayList<>(1);
        headers.forEach((field, values) -> {
            if (field.equalsIgnoreCase(name)) {
                all.addAll(values);
            }
        });
        return all;
    }

    /** {@return the header fields of a part, read-only} */
    static HttpHeaders of(PartHead head) {
        HttpHeaders headers = new HttpHeaders();
        head.headers().forEach(header -> headers.add(header.name(), header.value()));
        return HttpHeaders.readOnlyHttpHeaders(headers);
    }

    /** {@return whether Spring's applications know such a part as a field, not as a file or something else} */
    static boolean isField(PartHead head) {
        String type = head.mediaType();
        return head.filename() == null && (type == null || type.equals("text/plain"));
    }
}
