package dev.sluice.spring;

import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.util.MimeTypeUtils;

/** The choice between the error page of the application and a {@code ProblemDetail}. */
final class ErrorPages {
    private ErrorPages() {}

    /** {@return whether the client prefers HTML to JSON, as browsers do} A wildcard is not a preference. */
    static boolean isPreferred(List<String> accept) {
        try {
            List<MediaType> types = MediaType.parseMediaTypes(accept);
            MimeTypeUtils.sortBySpecificity(types);
            for (MediaType type : types) {
                if (type.isWildcardType()
                        || type.isCompatibleWith(MediaType.APPLICATION_JSON)
                        || type.isCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON)) {
                    return false;
                } else if (type.isCompatibleWith(MediaType.TEXT_HTML)) {
                    return true;
                }
            }
        } catch (IllegalArgumentException e) {
            // malformed, or too many types to sort
        }
        return false;
    }
}
