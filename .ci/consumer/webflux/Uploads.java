package org.example;

import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.http.codec.multipart.PartEvent;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@RestController
class Uploads {
    @PostMapping("/upload")
    Mono<String> upload(@RequestPart("title") String title, @RequestPart("file") FilePart file) {
        return DataBufferUtils.join(file.content()).map(all -> {
            int size = all.readableByteCount();
            DataBufferUtils.release(all);
            return title + " " + size;
        });
    }

    @PostMapping("/events")
    Mono<String> events(@RequestBody Flux<PartEvent> events) {
        return events.map(PartEvent::name).distinct().collectList().map(names -> String.join(" ", names));
    }
}
