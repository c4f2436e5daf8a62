package dev.sluice.samples.servlet;

import dev.sluice.PartHead;
import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.InspectionReport;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.TreeMap;

/**
 * A decider that hashes the files of one form while they are received, and stores none of them. Fields remain in the
 * form.
 */
final class ArrivingParts implements PartDecider {
    private final TreeMap<Integer, InspectionReport.Part> described = new TreeMap<>();

    @Override
    public PartDecision decide(PartHead part) {
        return part.filename() == null ? PartDecision.store() : PartDecision.to(new FileDigest(part));
    }

    /** {@return all parts of the form, in order; must be called after the form is complete} */
    List<InspectionReport.Part> with(MultipartForm form) throws IOException {
        for (FormPart field : form.parts()) {
            Digest digest = new Digest();
            try (InputStream in = field.inputStream()) {
                digest.addAll(in);
            }
            describe(field.head(), digest);
        }
        return List.copyOf(described.values());
    }

    private void describe(PartHead head, Digest digest) {
        described.put(head.index(), InspectionReport.Part.of(head, digest.size(), digest.hex()));
    }

    private final class FileDigest implements PartSink {
        private final PartHead head;
        private final Digest digest = new Digest();

        FileDigest(PartHead head) {
            this.head = head;
        }

        @Override
        public Readiness write(ByteBuf data) {
            digest.add(data);
            return Readiness.READY;
        }

        @Override
        public Readiness complete() {
            describe(head, digest);
            return Readiness.READY;
        }

        @Override
        public void close() {
            // nothing to release
        }
    }
}
