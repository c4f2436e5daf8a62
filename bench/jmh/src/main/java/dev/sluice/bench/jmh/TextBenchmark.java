package dev.sluice.bench.jmh;

import dev.sluice.buffer.Text;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Bytes of a buffer into a String (netty issue 8388). */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TextBenchmark {
    @Param("UTF-8")
    public String charset;

    @Param("heap")
    public String memory;

    /** Letters of US-ASCII only, or every eighth a letter that is not. */
    @Param("ascii")
    public String content;

    /** In bytes; the last letter may go beyond. */
    @Param("64")
    public int size;

    private Charset encoding;
    private CharsetDecoder decoder;
    private ByteBuf buffer;

    @Setup(Level.Trial)
    public void open() throws CharacterCodingException {
        encoding = Charset.forName(charset);
        decoder = encoding.newDecoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .onUnmappableCharacter(CodingErrorAction.REPLACE);
        StringBuilder text = new StringBuilder();
        while (text.toString().getBytes(encoding).length < size) {
            boolean foreign = content.equals("mixed") && text.length() % 8 == 2;
            text.append(foreign ? '\u00e9' : (char) ('a' + text.length() % 26));
        }
        byte[] bytes = text.toString().getBytes(encoding);
        buffer = memory.equals("heap")
                ? PooledByteBufAllocator.DEFAULT.heapBuffer(bytes.length)
                : PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length);
        buffer.writeBytes(bytes);
        String expected = text.toString();
        if (!sluice().equals(expected)
                || !nettyToString().equals(expected)
                || !charBuffer().equals(expected)) {
            throw new IllegalStateException("the ways do not agree");
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        buffer.release();
    }

    @Benchmark
    public String sluice() {
        return Text.decode(buffer, buffer.readerIndex(), buffer.readableBytes(), encoding);
    }

    @Benchmark
    public String nettyToString() {
        return buffer.toString(encoding);
    }

    /** A decoder into a CharBuffer, whose characters the String then copies. */
    @Benchmark
    public String charBuffer() throws CharacterCodingException {
        ByteBuffer bytes = buffer.nioBuffer();
        CharBuffer chars = decoder.decode(bytes);
        return chars.toString();
    }
}
