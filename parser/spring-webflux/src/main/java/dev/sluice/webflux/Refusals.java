package dev.sluice.webflux;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import java.util.Locale;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import org.springframework.web.server.UnsupportedMediaTypeStatusException;

/** The conversion of refusals to the exceptions of WebFlux. */
final class Refusals {
    private Refusals() {}

    /** {@return WebFlux's exception for a refusal; failures of connections, disks and sinks are returned unchanged} */
    static Throwable toSpringException(Throwable failure) {
        if (!(failure instanceof MultipartException refused)) {
            return failure;
        }
        ResponseStatusException converted = of(refused);
        converted.getBody().setProperty("reason", refused.reason().name().toLowerCase(Locale.ROOT));
        Setting setting = refused.setting();
        if (setting != null) {
            converted.getBody().setProperty("limit", setting.key());
        }
        return converted;
    }

    private static ResponseStatusException of(MultipartException refused) {
        String message = String.valueOf(refused.getMessage());
        return switch (refused.httpStatus()) {
            case 400 -> new ServerWebInputException(message, null, refused);
            case 415 -> new UnsupportedType(message, refused);
            default -> new ResponseStatusException(HttpStatusCode.valueOf(refused.httpStatus()), message, refused);
        };
    }

    /** Spring's exception with a cause, for which Spring has no constructor. */
    private static final class UnsupportedType extends UnsupportedMediaTypeStatusException {
        private static final long serialVersionUID = 1L;
        private final MultipartException refused;

        UnsupportedType(String message, MultipartException refused) {
            super(message);
            getBody().setDetail(message); // replaces "Could not parse Content-Type"
            this.refused = refused;
        }

        @Override
        public MultipartException getCause() {
            return refused;
        }
    }
}
