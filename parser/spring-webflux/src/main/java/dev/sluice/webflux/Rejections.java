package dev.sluice.webflux;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import java.util.Locale;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import org.springframework.web.server.UnsupportedMediaTypeStatusException;

/** The conversion of rejections to the exceptions of WebFlux. */
final class Rejections {
    private Rejections() {}

    /** {@return WebFlux's exception for a rejection; failures of connections, disks and sinks are returned unchanged} */
    static Throwable toSpringException(Throwable failure) {
        if (!(failure instanceof MultipartException rejected)) {
            return failure;
        }
        ResponseStatusException converted = of(rejected);
        converted.getBody().setProperty("reason", rejected.reason().name().toLowerCase(Locale.ROOT));
        Setting setting = rejected.setting();
        if (setting != null) {
            converted.getBody().setProperty("limit", setting.key());
        }
        return converted;
    }

    private static ResponseStatusException of(MultipartException rejected) {
        String message = String.valueOf(rejected.getMessage());
        return switch (rejected.httpStatus()) {
            case 400 -> new ServerWebInputException(message, null, rejected);
            case 415 -> new UnsupportedType(message, rejected);
            default -> new ResponseStatusException(HttpStatusCode.valueOf(rejected.httpStatus()), message, rejected);
        };
    }

    /** Spring's exception with a cause, for which Spring has no constructor. */
    private static final class UnsupportedType extends UnsupportedMediaTypeStatusException {
        private static final long serialVersionUID = 1L;
        private final MultipartException rejected;

        UnsupportedType(String message, MultipartException rejected) {
            super(message);
            getBody().setDetail(message); // replaces "Could not parse Content-Type"
            this.rejected = rejected;
        }

        @Override
        public MultipartException getCause() {
            return rejected;
        }
    }
}
