package dev.sluice.webflux;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import java.util.Locale;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import org.springframework.web.server.UnsupportedMediaTypeStatusException;

/** Refusals in the words that WebFlux has for them. */
final class Refusals {
    private Refusals() {}

    /** {@return what Spring's applications know for it; of connections, disks and sinks as it is} */
    static Throwable translated(Throwable failure) {
        if (!(failure instanceof MultipartException refused)) {
            return failure;
        }
        ResponseStatusException known = of(refused);
        known.getBody().setProperty("reason", refused.reason().name().toLowerCase(Locale.ROOT));
        Setting setting = refused.setting();
        if (setting != null) {
            known.getBody().setProperty("limit", setting.key());
        }
        return known;
    }

    private static ResponseStatusException of(MultipartException refused) {
        String why = String.valueOf(refused.getMessage());
        return switch (refused.httpStatus()) {
            case 400 -> new ServerWebInputException(why, null, refused);
            case 415 -> new Unsupported(why, refused);
            default -> new ResponseStatusException(HttpStatusCode.valueOf(refused.httpStatus()), why, refused);
        };
    }

    /** Spring's has no constructor with a cause. */
    private static final class Unsupported extends UnsupportedMediaTypeStatusException {
        private static final long serialVersionUID = 1L;
        private final MultipartException refused;

        Unsupported(String why, MultipartException refused) {
            super(why);
            getBody().setDetail(why); // Spring's says that the type could not be parsed
            this.refused = refused;
        }

        @Override
        public MultipartException getCause() {
            return refused;
        }
    }
}
