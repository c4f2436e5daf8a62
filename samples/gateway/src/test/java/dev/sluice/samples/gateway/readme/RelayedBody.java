package dev.sluice.samples.gateway.readme;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.IOException;
import java.io.InputStream;

// @start region="body"
final class RelayedBody extends ServletInputStream {
    private final InputStream relayed;

    RelayedBody(InputStream relayed) {
        this.relayed = relayed;
    }

    @Override
    public int read() throws IOException {
        return relayed.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        return relayed.read(target, offset, length);
    }

    @Override
    public boolean isFinished() {
        return false; // a blocking client reads until -1
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
        throw new IllegalStateException("this stream supports blocking reads only");
    }
}
// @end
