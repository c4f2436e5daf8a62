package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import java.io.InputStream;
import org.jvnet.mimepull.MIMEConfig;
import org.jvnet.mimepull.MIMEMessage;
import org.jvnet.mimepull.MIMEPart;

/**
 * Mimepull in its streaming mode. It has no way to ask whether another part follows, so it is told the number of parts.
 */
final class MimepullPeer implements Peer {

    private final Body body;
    private final Body.ChunkedStream stream;

    MimepullPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        try (MIMEMessage message = new MIMEMessage(stream, body.boundary(), new MIMEConfig())) {
            for (int i = 0; i < body.truth().parts(); i++) {
                MIMEPart part = message.getPart(i);
                try (InputStream in = part.readOnce()) {
                    tally.drain(in);
                }
                part.close();
                tally.endPart();
            }
        }
    }

    @Override
    public void close() {}
}
