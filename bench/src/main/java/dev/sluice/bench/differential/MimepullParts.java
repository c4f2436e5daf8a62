package dev.sluice.bench.differential;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import java.io.IOException;
import java.io.InputStream;
import org.jvnet.mimepull.MIMEConfig;
import org.jvnet.mimepull.MIMEMessage;
import org.jvnet.mimepull.MIMEPart;

/** Mimepull asked for all parts, however many there are. It leaves the names in the headers. */
final class MimepullParts implements Peer {

    private final Body body;

    MimepullParts(Body body) {
        this.body = body;
    }

    @Override
    public void run(Tally tally) throws IOException {
        try (MIMEMessage message = new MIMEMessage(body.stream(0), body.boundary(), new MIMEConfig())) {
            for (MIMEPart part : message.getAttachments()) {
                try (InputStream in = part.read()) {
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
