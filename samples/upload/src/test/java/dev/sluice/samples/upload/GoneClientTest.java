package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that disconnect before a request or speak another protocol: the server closes their connections and writes nothing to the log. */
@Timeout(300)
class GoneClientTest {
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    @TempDir
    Path directory;

    private final ByteArrayOutputStream logged = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    @BeforeEach
    void capture() {
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void restore() {
        System.setErr(before);
    }

    private UploadServer start(boolean tls) throws IOException {
        return UploadServer.start(ServerConfig.of(directory).withTls(tls));
    }

    private static Socket connect(UploadServer server) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(120_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** A health check that only connects. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void connectionWithoutBytes_isClosed(boolean tls) throws IOException {
        try (UploadServer server = start(tls);
                Socket socket = connect(server)) {
            socket.shutdownOutput();
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", PREFACE})
    void reset_isNotLogged(String sent) throws IOException {
        try (UploadServer server = start(false)) {
            for (int i = 0; i < 20; i++) {
                try (Socket socket = connect(server)) {
                    send(socket, sent);
                    if (!sent.isEmpty()) {
                        socket.getInputStream().read(); // the server's settings, so the connection is established
                    }
                    socket.setSoLinger(true, 0);
                }
            }
        }
        assertEquals("", logged.toString(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", PREFACE})
    void plainTextToTlsPort_isNotLogged(String sent) throws IOException {
        try (UploadServer server = start(true);
                Socket socket = connect(server)) {
            send(socket, sent);
            socket.getInputStream().readAllBytes();
        }
        assertEquals("", logged.toString(StandardCharsets.UTF_8));
    }

    @Test
    void brokenTls_isNotLoggedAsError() throws Exception {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        try (UploadServer server = start(true);
                Socket socket = connect(server);
                SSLSocket tls = (SSLSocket)
                        trusting.getSocketFactory().createSocket(socket, "localhost", server.port(), false)) {
            tls.startHandshake();
            send(tls, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals('H', tls.getInputStream().read());
            send(socket, "not a record of TLS\r\n".repeat(4));
            socket.getInputStream().readAllBytes();
        }
        assertFalse(logged.toString(StandardCharsets.UTF_8).contains("ERROR"), logged::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"this is not a frame of HTTP/2", "\0\0\0\4\0\0\0\0\1"})
    void malformedHttp2_isAnsweredWithProtocolErrorAndNotLogged(String frame) throws IOException {
        try (UploadServer server = start(false);
                Socket socket = connect(server)) {
            send(socket, PREFACE + frame);
            assertEquals(1, errorCodeOfGoAway(socket));
            socket.getInputStream().readAllBytes();
        }
        assertEquals("", logged.toString(StandardCharsets.UTF_8));
    }

    private static int errorCodeOfGoAway(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        for (; ; ) {
            int lengthAndType = in.readInt();
            in.skipNBytes(5); // flags and stream
            byte[] payload = in.readNBytes(lengthAndType >>> 8);
            if ((lengthAndType & 0xff) == 7) {
                return ByteBuffer.wrap(payload).getInt(4);
            }
        }
    }
}
