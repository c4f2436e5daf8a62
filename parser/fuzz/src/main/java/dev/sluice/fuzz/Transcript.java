package dev.sluice.fuzz;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import dev.sluice.testkit.Outcome;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The complete meaning of a body as comparable bytes: headers and data of the parts, deviations, and the error. Data is
 * concatenated, so the transcript does not depend on the chunks.
 */
final class Transcript {
    private static final int REPORTED = 100;

    private final Bytes out = new Bytes(512);
    private int parts;

    Transcript partBegins(
            int index, long offset, @Nullable String name, @Nullable String filename, @Nullable String contentType) {
        parts++;
        out.add("\nPART ");
        number(index).number(offset).text(name).text(filename).text(contentType);
        return this;
    }

    Transcript header(String name, byte[] value) {
        out.add("\n").add(name).add(":").add(value);
        return this;
    }

    Transcript append(Transcript other) {
        out.add(other.out.toByteArray());
        return this;
    }

    Transcript dataBegins() {
        out.add("\nDATA ");
        return this;
    }

    Transcript data(byte[] bytes) {
        out.add(bytes);
        return this;
    }

    Transcript data(ByteBuf bytes) {
        out.add(bytes);
        return this;
    }

    Transcript partEnds(long size) {
        out.add("\nEND ");
        return number(size);
    }

    Transcript ends(long size) {
        out.add("\nOK ");
        return number(size);
    }

    Transcript fails(Reason reason, long offset, int part) {
        out.add("\nFAIL ").add(reason.name());
        return number(offset).number(part);
    }

    Transcript deviation(String kind, int part, long offset) {
        out.add("\n~ ").add(kind);
        return number(part).number(offset);
    }

    /** Adds the number of deviations, as the last entry. */
    Transcript deviations(long count) {
        out.add("\n#");
        return number(count);
    }

    private Transcript number(long number) {
        out.add(" ").add(Long.toString(number));
        return this;
    }

    private Transcript text(@Nullable String text) {
        if (text == null) {
            out.add(" -");
        } else {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            out.add(" ")
                    .add(Integer.toString(bytes.length))
                    .add("\"")
                    .add(bytes)
                    .add("\"");
        }
        return this;
    }

    Transcript partOf(MultipartDecoder decoder) {
        PartHead head = decoder.head();
        partBegins(head.index(), head.offset(), head.name(), head.filename(), head.contentType());
        List<PartHead.Header> headers = head.headers();
        for (int i = 0; i < headers.size(); i++) {
            header(headers.get(i).name(), head.rawHeader(i));
        }
        return dataBegins();
    }

    Transcript deviationsOf(MultipartDecoder decoder) {
        for (ReportedDeviation deviation : decoder.deviations()) {
            deviation(deviation.kind().name(), deviation.partIndex(), deviation.offset());
        }
        return deviations(decoder.deviationCount());
    }

    Transcript fails(MultipartException e) {
        return fails(e.reason(), e.offset(), e.partIndex());
    }

    /** {@return the transcript of the reference parser's result} */
    static Transcript of(Outcome outcome) {
        Transcript transcript = new Transcript();
        for (Outcome.Part part : outcome.parts()) {
            transcript.part(part);
            transcript.partEnds(part.body().length);
        }
        if (outcome.partial() != null) {
            transcript.part(outcome.partial());
        }
        Outcome.Error error = outcome.error();
        if (error == null) {
            transcript.ends(outcome.bodySize());
        } else {
            transcript.fails(Reason.valueOf(error.reason()), error.offset(), error.part());
        }
        List<Outcome.Deviation> deviations = outcome.deviations();
        for (int i = 0; i < Math.min(REPORTED, deviations.size()); i++) {
            Outcome.Deviation deviation = deviations.get(i);
            transcript.deviation(deviation.kind(), deviation.part(), deviation.offset());
        }
        return transcript.deviations(deviations.size());
    }

    private void part(Outcome.Part part) {
        partBegins(part.index(), part.bodyOffset(), part.name(), part.filename(), part.contentType());
        for (Outcome.Header header : part.headers()) {
            header(header.name(), header.rawValue());
        }
        dataBegins().data(part.body());
    }

    /** {@return the number of parts that began} */
    int parts() {
        return parts;
    }

    boolean isSame(Transcript other) {
        return out.isSame(other.out);
    }

    boolean startsWith(Transcript other) {
        return out.startsWith(other.out);
    }

    /** Throws an error with both transcripts if they differ. */
    static void requireSame(Transcript expected, Transcript actual, String what, Object setup) {
        if (!expected.isSame(actual)) {
            throw new AssertionError(what + "\n" + setup + "\nexpected " + expected + "\nbut was  " + actual);
        }
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
