package dev.sluice.s3;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The segments of one form, which are charged to the {@link SegmentMemory} of all forms. Thread-safe. */
final class FormSegments {
    private final S3Sinks sinks;

    /** Segments that are sent or wait to be. */
    private final AtomicInteger unsent = new AtomicInteger();

    /** The memory of the small content. */
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

    /** {@return whether a full segment has room for more bytes now} */
    boolean makeRoom(Segment segment, int bytes, int piece) {
        if (!segment.isLeased()) {
            long more = segment.smallMemory(bytes) - segment.charged();
            if (small.addAndGet(more) <= SegmentMemory.SMALL) {
                segment.extend(bytes);
                return true;
            }
            small.addAndGet(-more);
        }
        long capacity = tryLease(piece);
        if (capacity > 0) {
            useLease(segment, capacity);
        }
        return capacity > 0;
    }

    /** {@return the capacity of a segment for a piece, or 0 if there is none now} */
    long tryLease(int piece) {
        return isBusy() ? 0 : sinks.memory.tryLease(sinks.segmentBytes(piece));
    }

    void useLease(Segment segment, long capacity) {
        small.addAndGet(-segment.charged());
        segment.lease(capacity);
    }

    /** Counts a segment that is sent soon. */
    void sent() {
        unsent.incrementAndGet();
    }

    /** Releases a segment that was sent, or will not be. */
    void landed(Segment segment) {
        unsent.decrementAndGet();
        segment.release();
    }

    boolean areAllSent() {
        return unsent.get() == 0;
    }

    /** {@return whether so many segments wait to be sent that the form fills no other one} */
    boolean isBusy() {
        return unsent.get() > sinks.segmentsInFlight;
    }
}
