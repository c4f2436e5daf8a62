package dev.sluice.testkit;

import static dev.sluice.testkit.Bytes.CR;
import static dev.sluice.testkit.Bytes.LF;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A search for dash-boundaries ({@code --} and the boundary) at the start of a line. */
final class ReferenceDelimiters {
    private final byte[] body;
    private final int size;
    private final byte[] dashBoundary;
    private final boolean lfMode;

    /**
     * @param size the number of bytes of the body that are read
     * @param lfMode whether LF alone ends a line
     */
    ReferenceDelimiters(byte[] body, int size, byte[] dashBoundary, boolean lfMode) {
        this.body = body;
        this.size = size;
        this.dashBoundary = dashBoundary;
        this.lfMode = lfMode;
    }

    /**
     * A dash-boundary at the start of a line.
     *
     * @param start the offset of the line end before the dash-boundary; at the start of the region, the offset of the dash-boundary
     * @param bareLf the offset of the LF before the dash-boundary if there is no CR; -1 otherwise
     * @param end the offset of the byte after the dash-boundary
     */
    record DashBoundary(int start, int bareLf, int end) {}

    /**
     * {@return the first dash-boundary at or after {@code from}} The start of the region counts as the start of a line.
     */
    @Nullable
    DashBoundary find(int regionStart, int from) {
        for (int i = from; i < size; i++) {
            if (i == regionStart && dashBoundaryAt(i)) {
                return new DashBoundary(i, -1, i + dashBoundary.length);
            }
            if (body[i] == CR && i + 1 < size && body[i + 1] == LF && dashBoundaryAt(i + 2)) {
                return new DashBoundary(i, -1, i + 2 + dashBoundary.length);
            }
            if (lfMode && body[i] == LF && dashBoundaryAt(i + 1)) {
                return new DashBoundary(i, i, i + 1 + dashBoundary.length);
            }
        }
        return null;
    }

    /**
     * {@return the offset of the last byte of the first lookalike in [from, to), or -1} A lookalike is a dash-boundary
     * after a lone CR or LF that does not end a line. A line end before the region does not count.
     */
    int lookalike(int regionStart, int from, int to) {
        for (int i = Math.max(from, regionStart + 1); i + dashBoundary.length <= to; i++) {
            boolean cr = body[i - 1] == CR;
            boolean lf = body[i - 1] == LF && !lfMode && !(i - 2 >= regionStart && body[i - 2] == CR);
            if ((cr || lf) && dashBoundaryAt(i)) {
                return i + dashBoundary.length - 1;
            }
        }
        return -1;
    }

    private boolean dashBoundaryAt(int at) {
        return at + dashBoundary.length <= size
                && Arrays.equals(body, at, at + dashBoundary.length, dashBoundary, 0, dashBoundary.length);
    }

    /** {@return the offset of the first byte that could belong to a delimiter if the body continued} */
    int undecided(int regionStart, int from) {
        for (int i = Math.max(from, size - dashBoundary.length - 2); i < size; i++) {
            if ((i == regionStart && isDashBoundarySoFar(i))
                    || (body[i] == CR && (i + 1 == size || (body[i + 1] == LF && isDashBoundarySoFar(i + 2))))
                    || (lfMode && body[i] == LF && isDashBoundarySoFar(i + 1))) {
                return i;
            }
        }
        return size;
    }

    private boolean isDashBoundarySoFar(int at) {
        int length = size - at;
        return length <= dashBoundary.length && Arrays.equals(body, at, size, dashBoundary, 0, length);
    }
}
