package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.testkit.Soup;
import java.util.Arrays;
import java.util.List;

/** A request to read, with its origin. Do not change the bytes. */
record Sample(Origin origin, String contentType, byte[] bytes) {
    enum Origin {
        CORPUS("the unchanged corpus"),
        CRAFTED("generated from elements that clients may send"),
        SOUP("nearly multipart: unusual elements and random tokens"),
        MUTATED("bodies of the corpus, damaged in a few places"),
        GRAMMAR("generated from the grammars of the standards, with mutations"),
        CLIENT("bodies of current clients, changed in a few places");

        final String title;

        Origin(String title) {
            this.title = title;
        }
    }

    /** Returns the whole body in one chunk. Some parsers need the boundary separately. */
    Body whole(String boundary) {
        return Body.unknown(contentType, boundary, List.of(new Slice(bytes, 0, bytes.length)));
    }

    /** Returns the body in two chunks. The second one starts at {@code cut}. */
    Body cut(String boundary, int cut) {
        return Body.unknown(
                contentType, boundary, List.of(new Slice(bytes, 0, cut), new Slice(bytes, cut, bytes.length - cut)));
    }

    /** Returns the body in chunks of a size, or in one chunk if the size is 0. */
    Body chunked(String boundary, int size) {
        return size == 0 || bytes.length == 0
                ? whole(boundary)
                : Body.unknown(contentType, boundary, whole(boundary).cut(size));
    }

    boolean isSame(Sample other) {
        return Arrays.equals(bytes, other.bytes) && contentType.equals(other.contentType);
    }

    String escaped() {
        return Soup.escape(bytes);
    }
}
