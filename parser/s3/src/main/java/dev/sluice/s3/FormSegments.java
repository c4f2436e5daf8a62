package dev.sluice.s3;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The segments of one form, which are charged to the {@link SegmentMemory} of all forms. Thread-safe. */
final class FormSegments {
    private final S3Sinks sinks;

    /** The number of segments that are being sent or wait to be sent. */
    private final AtomicInteger unsent = new AtomicInteger();

    /** The number of leased segments that sinks are filling. */
    private final AtomicInteger filling = new AtomicInteger();

    /** The memory charged for small segments. */
    private final AtomicLong small = new AtomicLong();

    FormSegments(S3Sinks sinks) {
        this.sinks = sinks;
    }

    Segment newSegment() {
        sinks.begun();
        return new Segment(this::freed);
    }

    private void freed(Segment segment) {
        if (segment.isLeased()) {
            sinks.memory.returnSegment(segment.capacity());
        } else {
            small.addAndGet(-segment.charged());
        }
        sinks.ended();
    }

    /** Tries to make room for more bytes in a small segment that is full. {@return whether it has room now} */
    boolean makeRoom(Segment segment, int bytes, int piece) {
        long more = segment.smallMemory(bytes) - segment.charged();
        if (small.addAndGet(more) <= SegmentMemory.SMALL) {
            segment.extend(bytes);
            return true;
        }
        small.addAndGet(-more);
        long capacity = tryLease(piece);
        if (capacity > 0) {
            useLease(segment, capacity);
        }
        return capacity > 0;
    }

    /** {@return the capacity of a segment for a piece, or 0 if there is no memory for it now} */
    long tryLease(int piece) {
        return isBusy() ? 0 : sinks.memory.tryLease(sinks.segmentBytes(piece));
    }

    void useLease(Segment segment, long capacity) {
        small.addAndGet(-segment.charged());
        segment.lease(capacity);
        filling.incrementAndGet();
    }

    /** Releases a segment that was not filled. */
    void discard(Segment segment) {
        filling.addAndGet(segment.isLeased() ? -1 : 0);
        segment.release();
    }

    /** Counts a segment that will be sent. */
    void queued(Segment segment) {
        filling.addAndGet(segment.isLeased() ? -1 : 0);
        unsent.incrementAndGet();
    }

    /** Releases a segment that has been sent, or will not be sent. */
    void done(Segment segment) {
        unsent.decrementAndGet();
        segment.release();
    }

    boolean areFilling() {
        return filling.get() > 0;
    }

    boolean areAllSent() {
        return unsent.get() == 0;
    }

    /** {@return whether so many segments wait to be sent that the form must not fill another} */
    boolean isBusy() {
        return unsent.get() > sinks.segmentsInFlight;
    }
}
