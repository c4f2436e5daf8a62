package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.testkit.Soup;
import java.util.Arrays;
import java.util.List;

/** A request to be read, from an origin that is counted; its bytes are not to be changed. */
record Sample(Origin origin, String contentType, byte[] bytes) {
    enum Origin {
        CORPUS("the corpus as it is"),
        CRAFTED("made of what senders may write"),
        SOUP("almost multipart: oddities and soups of tokens"),
        MUTATED("a body of the corpus, damaged in a few places"),
        CLIENT("what a client of today sends, changed in a few places");

        final String title;

        Origin(String title) {
            this.title = title;
        }
    }

    /** The whole body in one chunk, with the boundary for the parsers that have to be told it. */
    Body whole(String boundary) {
        return Body.unknown(contentType, boundary, List.of(new Slice(bytes, 0, bytes.length)));
    }

    /** The body in two chunks, of which the first ends before {@code cut}. */
    Body cut(String boundary, int cut) {
        return Body.unknown(
                contentType, boundary, List.of(new Slice(bytes, 0, cut), new Slice(bytes, cut, bytes.length - cut)));
    }

    boolean isSame(Sample other) {
        return Arrays.equals(bytes, other.bytes) && contentType.equals(other.contentType);
    }

    String escaped() {
        return Soup.escape(bytes);
    }
}
