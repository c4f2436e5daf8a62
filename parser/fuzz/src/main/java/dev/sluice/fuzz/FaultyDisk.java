package dev.sluice.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file system in memory that fails as told: one call of all that can fail, writes beyond its space, and writes cut short. It counts
 * what is open.
 */
final class FaultyDisk extends FileSystem {
    private static final int NEVER = -1;

    private final FileSystem memory = Jimfs.newFileSystem(Configuration.unix().toBuilder()
            .setAttributeViews("basic", "owner", "posix")
            .setMaxSize(1 << 20)
            .setBlockSize(256)
            .build());
    private final Provider provider = new Provider();
    private int calls;
    private int failAt = NEVER;
    private boolean failed;
    private long space = Long.MAX_VALUE;
    private int largestWrite = Integer.MAX_VALUE;
    private int open;

    /** From here on, call number {@code failAt} fails (-1 for none), and there is so much space. */
    void faults(int callToFail, long octetsOfSpace, int octetsPerWrite) {
        calls = 0;
        failed = false;
        failAt = callToFail;
        space = octetsOfSpace;
        largestWrite = octetsPerWrite;
    }

    void noFaults() {
        boolean before = failed;
        faults(NEVER, Long.MAX_VALUE, Integer.MAX_VALUE);
        failed = before;
    }

    /** {@return whether a call failed since {@link #faults}} */
    boolean hasFailed() {
        return failed;
    }

    int open() {
        return open;
    }

    private void call(String name) throws IOException {
        if (calls++ == failAt) {
            failed = true;
            throw new FileSystemException("injected: " + name + " #" + failAt);
        }
    }

    private interface Wrapped {
        Path unwrap();
    }

    private Path wrap(Path path) {
        return (Path) Proxy.newProxyInstance(
                FaultyDisk.class.getClassLoader(),
                new Class<?>[] {Path.class, Wrapped.class},
                (proxy, method, given) -> {
                    switch (method.getName()) {
                        case "unwrap":
                            return path;
                        case "getFileSystem":
                            return this;
                        default:
                    }
                    Object[] real = given == null ? new Object[0] : given.clone();
                    for (int i = 0; i < real.length; i++) {
                        real[i] = real[i] instanceof Wrapped wrapped ? wrapped.unwrap() : real[i];
                    }
                    try {
                        Object result = method.invoke(path, real);
                        return result instanceof Path other ? wrap(other) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Path unwrap(Path path) {
        return path instanceof Wrapped wrapped ? wrapped.unwrap() : path;
    }

    private final class Provider extends FileSystemProvider {
        @Override
        public String getScheme() {
            return "faulty";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Path getPath(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            call("open");
            return new Channel(Files.newByteChannel(unwrap(path), options, attributes));
        }

        @Override
        public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            return FileChannel.open(unwrap(path), options, attributes);
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path directory, DirectoryStream.Filter<? super Path> filter)
                throws IOException {
            List<Path> paths = new ArrayList<>();
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(unwrap(directory))) {
                stream.forEach(path -> paths.add(wrap(path)));
            }
            return new Listing(paths);
        }

        @Override
        public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
            call("mkdir");
            Files.createDirectory(unwrap(directory), attributes);
        }

        @Override
        public void createLink(Path link, Path existing) throws IOException {
            call("link");
            Files.createLink(unwrap(link), unwrap(existing));
        }

        @Override
        public void delete(Path path) throws IOException {
            call("delete");
            Files.delete(unwrap(path));
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            call("move");
            Files.move(unwrap(source), unwrap(target), options);
        }

        @Override
        public boolean isSameFile(Path path, Path other) throws IOException {
            return Files.isSameFile(unwrap(path), unwrap(other));
        }

        @Override
        public boolean isHidden(Path path) throws IOException {
            return Files.isHidden(unwrap(path));
        }

        @Override
        public FileStore getFileStore(Path path) throws IOException {
            return Files.getFileStore(unwrap(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            Path real = unwrap(path);
            real.getFileSystem().provider().checkAccess(real, modes);
        }

        @Override
        public <V extends FileAttributeView> @Nullable V getFileAttributeView(
                Path path, Class<V> type, LinkOption... options) {
            return Files.getFileAttributeView(unwrap(path), type, options);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
                throws IOException {
            return Files.readAttributes(unwrap(path), type, options);
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) throws IOException {
            return Files.readAttributes(unwrap(path), names, options);
        }

        @Override
        public void setAttribute(Path path, String name, Object value, LinkOption... options) {
            throw new UnsupportedOperationException();
        }
    }

    private record Listing(List<Path> paths) implements DirectoryStream<Path> {
        @Override
        public Iterator<Path> iterator() {
            return paths.iterator();
        }

        @Override
        public void close() {}
    }

    private final class Channel implements SeekableByteChannel {
        private final SeekableByteChannel channel;

        Channel(SeekableByteChannel channel) {
            this.channel = channel;
            open++;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            call("read");
            return channel.read(target);
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            call("write");
            int count = (int) Math.min(Math.min(source.remaining(), largestWrite), space);
            if (count == 0 && source.hasRemaining()) {
                failed = true;
                throw new FileSystemException("injected: no space left on device");
            }
            space -= space == Long.MAX_VALUE ? 0 : count;
            int limit = source.limit();
            channel.write(source.limit(source.position() + count));
            source.limit(limit);
            return count;
        }

        @Override
        public long position() throws IOException {
            return channel.position();
        }

        @Override
        public SeekableByteChannel position(long position) throws IOException {
            channel.position(position);
            return this;
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public SeekableByteChannel truncate(long size) throws IOException {
            channel.truncate(size);
            return this;
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            if (channel.isOpen()) {
                channel.close(); // a close that reports an error has closed all the same
                open--;
                call("close");
            }
        }
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() throws IOException {
        memory.close();
    }

    @Override
    public boolean isOpen() {
        return memory.isOpen();
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return memory.getSeparator();
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return memory.getRootDirectories();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return memory.getFileStores();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return memory.supportedFileAttributeViews();
    }

    @Override
    public Path getPath(String first, String... more) {
        return wrap(memory.getPath(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
        throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        return memory.getUserPrincipalLookupService();
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException();
    }
}
