package dev.sluice.samples.upload;

import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.InspectionReport;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes the parts of a body and keeps none of them. Not thread-safe. */
final class Inspection implements PartSink {
    private final List<InspectionReport.Part> parts = new ArrayList<>();
    private final Digest digest = new Digest();
    private @Nullable PartHead head;

    @Override
    public void begin(PartHead head) {
        this.head = head;
        digest.reset();
    }

    @Override
    public void data(ByteBuf data) {
        digest.add(data);
    }

    @Override
    public void end() {
        if (head == null) {
            throw new IllegalStateException("the end of a part that has not begun");
        }
        parts.add(InspectionReport.Part.of(
                head.index(),
                head.name(),
                head.filename(),
                head.headers(),
                head.offset(),
                digest.size(),
                digest.hex()));
        head = null;
    }

    @Override
    public InspectionReport finish(long bodySize, List<ReportedDeviation> deviations) {
        return new InspectionReport(parts, InspectionReport.Deviation.of(deviations), bodySize, null);
    }

    @Override
    public InspectionReport refuse(ErrorAnswer error, List<ReportedDeviation> deviations) {
        return new InspectionReport(
                parts, InspectionReport.Deviation.of(deviations), Math.max(0, error.offset()), error);
    }

    @Override
    public void close() {
        head = null;
    }
}
