package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Many clients on the caller's thread. Each sends the head of an upload and waits for {@code 100 Continue}, which shows
 * that the server is reading. Then it sends the start of a body, and after that one byte per second.
 */
final class SlowClients implements AutoCloseable {
    /** The number of connections that may be opening at once, because the queue of a listening socket is short. */
    private static final int MOST_ENTERING = 32;

    private static final long DRIP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final InetSocketAddress server;
    private final byte[] head;
    private final byte[] start;
    private final Selector selector = Selector.open();
    private final List<Client> clients = new ArrayList<>();
    private final ArrayDeque<Client> dripping = new ArrayDeque<>();
    private final ByteBuffer read = ByteBuffer.allocate(4096);
    private int wanted;
    private int entering;
    private int open;

    /** @param start the first bytes of the body, sent at once */
    SlowClients(int port, String contentType, byte[] start, long contentLength) throws IOException {
        this.server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        this.start = start;
        this.head = ("POST /async HTTP/1.1\r\nHost: x\r\nContent-Type: " + contentType + "\r\nContent-Length: "
                        + contentLength + "\r\nExpect: 100-continue\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    final class Client {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final StringBuilder response = new StringBuilder();
        private ByteBuffer toSend = ByteBuffer.wrap(head);
        private boolean connected;
        private boolean welcome;
        private long begun;
        private long ended;
        private long due;

        Client() throws IOException {
            channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            begun = System.nanoTime();
            channel.connect(server);
            key = channel.register(selector, SelectionKey.OP_CONNECT, this);
        }

        /** {@return the status of its response; 0 if it has none} */
        int status() {
            boolean answered = ended != 0 && response.length() >= 12 && response.indexOf("HTTP/1.1 ") == 0;
            return answered ? Integer.parseInt(response.substring(9, 12)) : 0;
        }

        /** {@return the time for which the server received data from this client or waited for it} */
        Duration activeTime() {
            return Duration.ofNanos(ended - begun);
        }

        private void ready() {
            try {
                if (!connected) {
                    channel.finishConnect();
                    connected = true;
                    begun = System.nanoTime();
                    send();
                } else if (key.isReadable()) {
                    receive();
                } else {
                    send();
                }
            } catch (IOException e) {
                end();
            }
        }

        private void send() throws IOException {
            channel.write(toSend);
            key.interestOps(SelectionKey.OP_READ | (toSend.hasRemaining() ? SelectionKey.OP_WRITE : 0));
        }

        private void receive() throws IOException {
            read.clear();
            if (channel.read(read) < 0) {
                end();
                return;
            }
            response.append(StandardCharsets.ISO_8859_1.decode(read.flip()));
            if (!welcome && response.indexOf("HTTP/1.1 100") == 0 && response.indexOf("\r\n\r\n") > 0) {
                response.delete(0, response.indexOf("\r\n\r\n") + 4);
                welcome = true;
                entering--;
                toSend = ByteBuffer.wrap(start);
                send();
                due = System.nanoTime() + DRIP_NANOS;
                dripping.add(this);
            }
        }

        private void drip() {
            if (!channel.isOpen()) {
                return;
            }
            if (!toSend.hasRemaining()) {
                try {
                    channel.write(ByteBuffer.wrap(new byte[] {'x'}));
                } catch (IOException e) {
                    return; // the connection is closed, but a response may still be readable
                }
            }
            due += DRIP_NANOS;
            dripping.add(this);
        }

        private void end() {
            if (ended == 0) {
                ended = System.nanoTime();
                open--;
                entering -= welcome ? 0 : 1;
                close();
            }
        }

        private void close() {
            try {
                channel.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Adds clients, and waits until the server reads their bodies. From now on, each closed client is replaced. */
    void enter(int count, Duration limit) throws IOException {
        wanted += count;
        drive("all clients are in", limit, () -> open == wanted && entering == 0);
    }

    void noMore() {
        wanted = 0;
    }

    /** Runs the clients until a condition holds. */
    void drive(String what, Duration limit, BooleanSupplier done) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!done.getAsBoolean()) {
            long now = System.nanoTime();
            assertTrue(now - deadline < 0, () -> "timed out: " + what + "; " + this);
            while (entering < MOST_ENTERING && open < wanted) {
                clients.add(new Client());
                entering++;
                open++;
            }
            while (!dripping.isEmpty() && dripping.peek().due - now <= 0) {
                dripping.remove().drip();
            }
            long wait = dripping.isEmpty() ? deadline - now : Math.min(dripping.peek().due, deadline) - now;
            long millis = Math.max(TimeUnit.NANOSECONDS.toMillis(wait), 1);
            selector.select(key -> ((Client) key.attachment()).ready(), Math.min(millis, 20));
        }
    }

    int open() {
        return open;
    }

    List<Client> all() {
        return clients;
    }

    @Override
    public String toString() {
        return clients.size() + " clients, " + entering + " still connecting, " + open + " open";
    }

    @Override
    public void close() throws IOException {
        clients.forEach(Client::end);
        selector.close();
    }
}
