package dev.sluice.form;

import dev.sluice.transfer.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;

/** Undoes a transfer encoding on the way to another sink. */
final class TransferDecodingSink implements PartSink {
    private final TransferDecoder decoder;
    private final PartSink sink;

    TransferDecodingSink(TransferDecoder decoder, PartSink sink) {
        this.decoder = decoder;
        this.sink = sink;
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        byte[] decoded = new byte[TransferDecoder.mostFrom(data.readableBytes())];
        pass(decoded, decoder.decode(data, decoded));
    }

    @Override
    public void complete() throws IOException {
        byte[] last = new byte[TransferDecoder.mostFrom(0)];
        pass(last, decoder.end(last));
        sink.complete();
    }

    private void pass(byte[] decoded, int size) throws IOException {
        if (size > 0) {
            sink.write(Unpooled.wrappedBuffer(decoded, 0, size));
        }
    }

    @Override
    public void close() throws IOException {
        sink.close();
    }
}
