package dev.sluice.webflux;

import dev.sluice.PartHead;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.HttpHeaders;

/**
 * Helpers for header fields. They use only methods that Spring 6 and 7 share: {@code HttpHeaders} is not a map in
 * Spring 7.
 */
final class HeaderFields {
    private HeaderFields() {}

    /** {@return the values of all fields called {@code name}, unchanged} */
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

    /** {@return whether Spring treats the part as a form field} */
    static boolean isField(PartHead head) {
        String type = head.mediaType();
        return head.filename() == null && (type == null || type.equals("text/plain"));
    }
}
