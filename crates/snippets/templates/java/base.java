/* {{ case.name() }}
 *
{%- for line in case.about() %}
 * {{ line }}
{%- endfor %}
 *
{%- for line in case.errors("An interrupt of the thread is an error, too.") %}
 * {{ line }}
{%- endfor %}
{%- if case.hides_eintr() %}
 * Java itself repeats a sync that failed with EINTR, and so hides that error.
{%- endif %}
{%- if case.options.is_stream %}
 * The source is a channel that blocks; Channels.newChannel makes one of an InputStream.
{%- else if !case.copies() && !case.maps_target() %}
 * Hand over a direct buffer: Java copies the data of any other to one first.
{%- endif %}
{%- if case.maps_target() %}
 * If the file becomes shorter or its disk full, SIGBUS becomes an {% if case.threads() > 1 %}IOException{% else %}InternalError{% endif %}.
{%- endif %}
{%- if case.maps_target() || case.maps_source() %}
 * A mapping ends when the garbage collector finds it: a removed file keeps its space until then.
{%- endif %}
{%- if case.is(Method::Sendfile) %}
 * Java 17 to 19 call sendfile(2); from Java 20 on, transferTo tries copy_file_range(2) first.
{%- endif %}
 * To compile it: javac {% include "java/class_name.java" %}.java
{%- if case.options.is_program %}
 * To run it: java {% if !case.copies() && !case.options.is_stream %}-XX:MaxDirectMemorySize=3g {% endif %}Main SOURCE TARGET
{%- endif %}
 */

IMPORTS

final class {% include "java/class_name.java" %} {
{%- block declarations %}{% endblock %}
{%- if case.is_direct() %}
    /** With O_DIRECT, addresses, offsets and lengths are multiples of this. */
    private static final int BLOCK = {{ case.block() }};
{%- endif %}
{%- if case.threads() > 1 %}
    private static final int THREADS = {{ case.threads() }};
{%- endif %}

{% if case.copies() %}
    static void copyFile(Path source, Path path) throws IOException {
        try (FileChannel input = FileChannel.open(source)) {
            if (!Files.isRegularFile(source))
                throw new FileSystemException(source.toString(), null, "not a regular file");
{%- if case.meets_source() %}
            if (Files.isSameFile(source, path)) // to open it would empty the source
                throw new FileSystemException(path.toString(), source.toString(), "the same file");
{%- endif %}
            copy(source, input, path);
        }
    }

    private static void copy(Path source, FileChannel input, Path path) throws IOException {
{%- else if case.options.is_stream %}
{%- if case.expects() %}
    /** Space for the expected bytes is prepared. The file ends with the data. */
{%- endif %}
    static void writeStream(Path path, ReadableByteChannel source{% if case.expects() %}, long expected{% endif %}) throws IOException {
{%- else %}
    static void writeFile(Path path, ByteBuffer data) throws IOException {
{%- endif %}
{%- if case.options.is_atomic %}
        // Under another name until it is complete.
        String unique = ProcessHandle.current().pid() + "." + System.nanoTime();
        Path name = path.resolveSibling(path.getFileName() + "." + unique + ".tmp");
        PosixFileAttributes old = null;
        FileAttribute<?>[] mode = { {%- if case.copies() %}modeOf(source){% endif -%} };
        if (Files.exists(path)) {
            old = Files.readAttributes(path, PosixFileAttributes.class);
            mode = new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(old.permissions())};
        }
{%- endif %}
{%- if case.creates_name() %}
        FileChannel file = {% include "java/open.java" %};
        try (file) {
{%- else %}
        try (FileChannel file = {% include "java/open.java" %}) {
{%- endif %}
{%- if case.options.is_atomic %}
            if (old != null)
                keepMode(name, old);
{%- endif %}
{%- block fill %}{% endblock %}
{%- if case.checks_end() %}
            // It may be longer now, or never had that length, as in /proc.
            if (input.read(ByteBuffer.allocate(1), size) > 0)
                throw new FileSystemException(source.toString(), null, "it has become longer");
{%- endif %}
{%- if case.reopens_copy() %}
            {% if case.options.is_atomic %}if (old == null)
                {% endif %}narrowMode({{ case.written_name() }}, source);
{%- endif %}
{%- if case.options.is_atomic %}
            file.close(); // its late errors come before the name
            Files.move(name, path, ATOMIC_MOVE);
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}
            syncDirectory(path);
{%- endif %}
{%- if case.creates_name() %}
        } catch (Throwable error) {
            remove({{ case.written_name() }}, error);
            throw error;
{%- endif %}
        }
    }
{%- if case.is_direct() %}

    /** Opens with O_DIRECT, where the filesystem can. */
    private static FileChannel openDirect(Path path, Set<OpenOption> how, FileAttribute<?>... mode)
            throws IOException {
        Set<OpenOption> options = new HashSet<>(how);
        options.add(DIRECT);
        try {
            return FileChannel.open(path, options, mode);
        } catch (FileSystemException error) {
            if (!"Invalid argument".equals(error.getReason()))
                throw error;
            // A filesystem without direct I/O refuses, but has made the file.
            options.removeAll(Set.of(DIRECT, CREATE_NEW));
            return FileChannel.open(path, options, mode);
        }
    }
{%- endif %}
{%- if case.options.is_atomic %}

    /** Copies the mode of the replaced file, and its owner and group if permitted. */
    private static void keepMode(Path path, PosixFileAttributes old) throws IOException {
        if (!old.isRegularFile()) // a device or a pipe would become a file
            throw new FileSystemException(path.toString(), null, "the target is not a regular file");
        PosixFileAttributeView attributes = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        try {
            attributes.setGroup(old.group());
            attributes.setOwner(old.owner());
        } catch (FileSystemException error) {
            // Only root may.
        }
        attributes.setPermissions(old.permissions());
    }
{%- endif %}
{%- if case.loops_writing() %}

    /** A call that writes nothing would be repeated forever. */
    private static int some(long written) throws IOException {
        if (written == 0)
            throw new IOException("EIO: nothing was written");
        return (int) written;
    }
{%- endif %}
{%- if case.fills_with_zeros() %}

    /** Writes zeros: overwriting written blocks changes no metadata. */
    private static void fillWithZeros(FileChannel file, long size) throws IOException {
{%- if case.is_direct() %}
        ByteBuffer zeros = ByteBuffer.allocateDirect((64 << 10) + BLOCK).alignedSlice(BLOCK);
{%- else %}
        ByteBuffer zeros = ByteBuffer.allocateDirect(64 << 10);
{%- endif %}
        for (long at = 0; at < size;)
            at += some(file.write(zeros.clear().limit((int) Math.min(64 << 10, size - at)), at));
        file.force(true);
    }
{%- endif %}
{%- include "java/source.java" %}
{%- block helpers %}{% endblock %}
{%- if case.threads() > 1 %}
{%- include "java/parts.java" %}
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}

    /** A sync of the directory makes the file's name durable. */
    private static void syncDirectory(Path path) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        try (FileChannel directory = FileChannel.open(parent)) {
            directory.force(true);
        } catch (FileSystemException error) {
            throw error;
        } catch (IOException error) {
            boolean isUnable = List.of("Invalid argument", "Bad file descriptor").contains(error.getMessage());
            String reason = "fsync: " + error.getMessage() + (isUnable ? ": the directory cannot be synced here" : "");
            throw (IOException) new FileSystemException(parent.toString(), null, reason).initCause(error);
        }
    }
{%- endif %}
{%- if case.creates_name() %}

    /** Removes an incomplete file. */
    private static void remove(Path path, Throwable error) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException another) {
            error.addSuppressed(another);
        }
    }
{%- endif %}
{%- if case.options.is_program %}
{%- if !case.copies() && !case.options.is_stream %}

    /** The content of a file, in memory for O_DIRECT and huge pages. */
    private static ByteBuffer contentOf(Path path) throws IOException {
        final int unit = 2 << 20;
        try (FileChannel file = FileChannel.open(path)) {
            if (!Files.isRegularFile(path))
                throw new IOException("not a regular file");
            if (file.size() > Integer.MAX_VALUE - 2 * unit)
                throw new IOException("larger than a buffer can be");
            // A byte more shows a file that is longer than its status, as in /proc.
            int size = (int) file.size(), whole = size / unit * unit + unit;
            ByteBuffer data = ByteBuffer.allocateDirect(whole + unit).alignedSlice(unit).limit(size + 1);
            for (int got = 0; got >= 0 && data.hasRemaining();)
                got = file.read(data);
            if (data.position() != size)
                throw new IOException("it has another length than its status");
            return data.flip();
        }
    }
{%- endif %}

    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: java Main SOURCE TARGET");
            System.exit(2);
        }
        Path source = Path.of(arguments[0]), target = Path.of(arguments[1]);
{%- if case.copies() %}
        try {
            long start = System.nanoTime();
            copyFile(source, target);
{%- else if case.options.is_stream %}
        Path used = source;
        try (FileChannel input = FileChannel.open(source)) {
            used = target;
{%- if case.meets_source() %}
            if (Files.isSameFile(source, target))
                throw new IOException("the same file as " + source);
{%- endif %}
            long start = System.nanoTime();
            writeStream(target, input{% if case.expects() %}, input.size(){% endif %});
{%- else %}
        Path used = source;
        try {
            ByteBuffer data = contentOf(source);
            used = target;
            long start = System.nanoTime();
            writeFile(target, data);
{%- endif %}
            long nanoseconds = System.nanoTime() - start;
            // For `writebench run --command`: the time without the start and the reading of the source.
            String phases = System.getenv("WRITEBENCH_PHASES_FD");
            if (phases != null)
                Files.writeString(Path.of("/dev/fd/" + phases), "write " + nanoseconds + "\n", APPEND);
        } catch (IOException{% if case.maps_target() %} | InternalError{% endif %} error) {
            System.err.println({% if case.copies() %}target{% else %}used{% endif %} + ": " + error);
            System.exit(1);
        }
    }
{%- endif %}
}
