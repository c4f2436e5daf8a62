package dev.sluice;

import dev.sluice.MultipartDecoder.State;
import dev.sluice.header.HeaderState;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * A 64-bit hash of everything that influences the future of a decoder. Except for collisions, equal hashes mean equal results. Used by
 * {@link SplitProofTest} and {@link ExplorationTest}.
 */
public final class StateHash {
    private long value = 0xcbf29ce484222325L;

    public StateHash add(long number) {
        long mixed = (value ^ number) * 0x9E3779B97F4A7C15L;
        value = mixed ^ mixed >>> 29;
        return this;
    }

    StateHash add(boolean flag) {
        return add(flag ? 1 : 2);
    }

    public StateHash add(byte[] array, int from, int to) {
        CRC32C sum = new CRC32C();
        sum.update(array, from, to - from);
        return add(to - from).add(sum.getValue());
    }

    StateHash add(MultipartDecoder decoder) {
        State state = decoder.state;
        add(state.ordinal()).add(decoder.finished).add(decoder.partIndex).add(decoder.partSize);
        HeaderState.add(decoder.deviations, this);
        MultipartException failure = decoder.failure;
        if (failure != null) {
            add(failure.reason().ordinal()).add(failure.offset()).add(failure.partIndex());
            add(Objects.hashCode(failure.getMessage()));
        }
        if (state == State.FAILED || state == State.ENDED || state == State.RELEASED) {
            return this;
        }
        int matched = decoder.search.matchEnd();
        add(matched).add(matched == 0 ? 0 : decoder.search.matchStart());
        add(decoder.search.isWatching()).add(decoder.search.lookalike());
        add(decoder.offset).add(decoder.partOpen).add(decoder.partOffset);
        add(decoder.preambleAt).add(decoder.delimiterAt).add(decoder.delimiterAfterBareLf);
        add(decoder.partAfterBareLf).add(decoder.epilogueAt).add(decoder.padding);
        add(decoder.paddingBytes, 0, Math.min(decoder.padding, decoder.paddingBytes.length));
        add(decoder.beginning, 0, (int) Math.min(decoder.offset, decoder.beginning.length));
        HeaderState.add(decoder.rules, this);
        HeaderState.add(decoder.section, this);
        return this;
    }

    long value() {
        return value;
    }
}
