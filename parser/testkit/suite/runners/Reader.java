import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads forms with Sluice and the preset in the argument. The README of the suite describes the protocol. */
final class Reader {
    /** A body that is read in chunks, as from a socket. */
    private static final class Chunks extends FilterInputStream {
        private final int size;

        Chunks(byte[] body, int size) {
            super(new ByteArrayInputStream(body));
            this.size = size == 0 ? body.length : size;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return super.read(to, offset, Math.min(length, size));
        }
    }

    private static byte[] answer(InputStream body, String type, MultipartOptions options) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        int count = 0;
        try (MultipartReader reader = MultipartReader.create(body, type, options)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; count++) {
                pack(out, part.name() == null ? null : part.name().getBytes(StandardCharsets.UTF_8));
                pack(out, part.filename() == null ? null : part.filename().getBytes(StandardCharsets.UTF_8));
                pack(out, part.inputStream().readAllBytes());
            }
        } catch (IOException e) {
            bytes.reset();
            out.writeByte(0);
            pack(out, e.getMessage().getBytes(StandardCharsets.UTF_8));
            return bytes.toByteArray();
        }
        ByteArrayOutputStream accepted = new ByteArrayOutputStream();
        DataOutputStream head = new DataOutputStream(accepted);
        head.writeByte(1);
        head.writeInt(count);
        bytes.writeTo(head);
        return accepted.toByteArray();
    }

    private static void pack(DataOutputStream out, byte[] text) throws IOException {
        out.writeInt(text == null ? -1 : text.length);
        if (text != null) {
            out.write(text);
        }
    }

    private static byte[] text(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }

    public static void main(String[] args) throws IOException {
        MultipartOptions options =
                MultipartOptions.builder().preset(Preset.named(args[0])).build();
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        String version = MultipartReader.class.getPackage().getImplementationVersion();
        pack(out, String.valueOf(version).getBytes(StandardCharsets.UTF_8));
        out.flush();
        for (int size; (size = firstInt(in)) >= 0; ) {
            DataInputStream batch = new DataInputStream(new ByteArrayInputStream(in.readNBytes(size)));
            ByteArrayOutputStream answers = new ByteArrayOutputStream();
            while (batch.available() > 0) {
                String type = new String(text(batch), StandardCharsets.UTF_8);
                int chunk = batch.readInt();
                answers.write(answer(new Chunks(text(batch), chunk), type, options));
            }
            pack(out, answers.toByteArray());
            out.flush();
        }
    }

    /** Returns the next number, or -1 at the end of the input. */
    private static int firstInt(DataInputStream in) throws IOException {
        byte[] number = in.readNBytes(4);
        return number.length < 4 ? -1 : new DataInputStream(new ByteArrayInputStream(number)).readInt();
    }
}
