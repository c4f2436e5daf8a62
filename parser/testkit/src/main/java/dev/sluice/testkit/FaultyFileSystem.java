package dev.sluice.testkit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryIteratorException;
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
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file system that delegates to another one and fails on request: a chosen call fails, the disk is full after a
 * chosen number of bytes, or writes are short. It counts the calls that can fail, and the open channels. Not
 * thread-safe.
 */
public final class FaultyFileSystem extends FileSystem {
    private static final int NEVER = -1;

    private final FileSystem real;
    private final Provider provider = new Provider();
    private final List<String> names = new ArrayList<>();
    private boolean named;
    private int calls;
    private long uses;
    private int failAt = NEVER;
    private boolean failed;
    private long diskSpace = Long.MAX_VALUE;
    private int largestWrite = Integer.MAX_VALUE;
    private int open;
    private boolean basicOnly;
    private boolean otherFileSystem;
    private boolean withoutLinks;
    private String unreadable = "";
    private String foreign = "";

    /** @param real the file system to delegate to; closed with this one */
    public FaultyFileSystem(FileSystem real) {
        this.real = real;
    }

    /** Lets {@code n} further calls succeed and makes the next one fail; -1 for no failure. Resets {@link #calls()}. */
    public void failAt(int n) {
        countFrom(n);
        named = true;
    }

    /**
     * Makes one call fail and limits the space. Unlike {@link #failAt}, does not record the names of calls, which would
     * take memory.
     *
     * @param callToFail the number of further calls that succeed before one fails; -1 for no failure
     * @param bytesOfSpace the same as for {@link #diskSpace}
     * @param bytesPerWrite the same as for {@link #largestWrite}
     */
    public void faults(int callToFail, long bytesOfSpace, int bytesPerWrite) {
        countFrom(callToFail);
        named = false;
        diskSpace = bytesOfSpace;
        largestWrite = bytesPerWrite;
    }

    /** Undoes {@link #faults} and {@link #failAt}. {@link #hasFailed()} keeps its value. */
    public void noFaults() {
        boolean before = failed;
        faults(NEVER, Long.MAX_VALUE, Integer.MAX_VALUE);
        failed = before;
    }

    private void countFrom(int callToFail) {
        names.clear();
        calls = 0;
        failed = false;
        failAt = callToFail;
    }

    /** {@return whether a call failed on request or ran out of space since {@link #failAt} or {@link #faults}} */
    public boolean hasFailed() {
        return failed;
    }

    /** {@return the names of the calls since {@link #failAt}, in order; empty before it, and after {@link #faults}} */
    public List<String> calls() {
        return names;
    }

    /** {@return the number of all calls that can fail, except those that list a directory; never reset} */
    public long uses() {
        return uses;
    }

    /** {@return the number of open channels, except those opened for locks} */
    public int open() {
        return open;
    }

    /** Limits the bytes that can be written; {@link Long#MAX_VALUE} for no limit. */
    public void diskSpace(long bytes) {
        diskSpace = bytes;
    }

    /** Limits the bytes of a single write, 1 or more. */
    public void largestWrite(int bytes) {
        largestWrite = bytes;
    }

    /** Disables POSIX attributes, owners and hard links, as on FAT. */
    public void basicOnly() {
        basicOnly = true;
    }

    /** Makes every move to another directory and every hard link fail, as if each file were on its own file system. */
    public void otherFileSystem() {
        otherFileSystem = true;
    }

    public void withoutLinks() {
        withoutLinks = true;
    }

    /** Makes the iteration over directories of this name fail. */
    public void unreadable(String name) {
        unreadable = name;
    }

    /** Makes files and directories of this name belong to another user, on a file system with user IDs. */
    public void foreign(String name) {
        foreign = name;
    }

    /** {@return a path of the real file system as a path of this one} */
    public Path wrap(Path path) {
        return (Path) Proxy.newProxyInstance(
                FaultyFileSystem.class.getClassLoader(),
                new Class<?>[] {Path.class, Wrapped.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "unwrap":
                            return path;
                        case "getFileSystem":
                            return this;
                        default:
                    }
                    Object[] real = arguments == null ? new Object[0] : arguments.clone();
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

    private interface Wrapped {
        Path unwrap();
    }

    private static Path unwrap(Path path) {
        return path instanceof Wrapped wrapped ? wrapped.unwrap() : path;
    }

    private void call(String name, Path path) throws IOException {
        int number = calls++;
        uses += name.equals("list") ? 0 : 1;
        if (named) {
            names.add(name);
        }
        if (number == failAt) {
            failed = true;
            throw new FileSystemException(path.toString(), null, "injected: " + name + " #" + number);
        }
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
            call("open", path);
            return new Channel(Files.newByteChannel(unwrap(path), options, attributes), path);
        }

        @Override
        public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            call("openLock", path);
            return FileChannel.open(unwrap(path), options, attributes);
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path directory, DirectoryStream.Filter<? super Path> filter)
                throws IOException {
            call("list", directory);
            List<Path> paths = new ArrayList<>();
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(unwrap(directory))) {
                stream.forEach(path -> paths.add(wrap(path)));
            }
            return new DirectoryStream<>() {
                @Override
                public Iterator<Path> iterator() {
                    if (directory.endsWith(unreadable)) {
                        throw new DirectoryIteratorException(new FileSystemException(directory.toString()));
                    }
                    return paths.iterator();
                }

                @Override
                public void close() {
                    // the entries were read at the start
                }
            };
        }

        @Override
        public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
            call("mkdir", directory);
            Files.createDirectory(unwrap(directory), attributes);
        }

        @Override
        public void createLink(Path link, Path existing) throws IOException {
            call("link", link);
            if (withoutLinks) {
                throw new UnsupportedOperationException();
            }
            if (basicOnly || otherFileSystem) {
                throw new FileSystemException(link.toString(), existing.toString(), "Invalid cross-device link");
            }
            Files.createLink(unwrap(link), unwrap(existing));
        }

        @Override
        public void delete(Path path) throws IOException {
            call("delete", path);
            Files.delete(unwrap(path));
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            call("move", source);
            if (otherFileSystem && !Objects.equals(source.getParent(), target.getParent())) {
                throw new AtomicMoveNotSupportedException(
                        source.toString(), target.toString(), "Invalid cross-device link");
            }
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
            call("statfs", path);
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
            return names.equals("unix:uid") && path.endsWith(foreign)
                    ? Map.of("uid", -1)
                    : Files.readAttributes(unwrap(path), names, options);
        }

        @Override
        public void setAttribute(Path path, String name, Object value, LinkOption... options) {
            throw new UnsupportedOperationException();
        }
    }

    private final class Channel implements SeekableByteChannel {
        private final SeekableByteChannel channel;
        private final Path path;

        Channel(SeekableByteChannel channel, Path path) {
            this.channel = channel;
            this.path = path;
            open++;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            call("read", path);
            return channel.read(target);
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            call("write", path);
            int count = (int) Math.min(Math.min(source.remaining(), largestWrite), diskSpace);
            if (count == 0 && source.hasRemaining()) {
                failed = true;
                throw new FileSystemException(path.toString(), null, "No space left on device");
            }
            diskSpace -= diskSpace == Long.MAX_VALUE ? 0 : count;
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
                open--;
                channel.close(); // the channel is closed even if close fails
                call("close", path);
            }
        }
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() throws IOException {
        real.close();
    }

    @Override
    public boolean isOpen() {
        return real.isOpen();
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return real.getSeparator();
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return real.getRootDirectories();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return real.getFileStores();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return basicOnly ? Set.of("basic") : real.supportedFileAttributeViews();
    }

    @Override
    public Path getPath(String first, String... more) {
        return wrap(real.getPath(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
        throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        return real.getUserPrincipalLookupService();
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException();
    }
}
