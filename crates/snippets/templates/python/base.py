"""{{ case.name() }}

{%- for line in case.about() %}
{% if loop.first %}
{% endif %}{{ line }}
{%- endfor %}


{%- for line in case.errors("Raises OSError.") %}
{{ line }}
{%- endfor %}
{%- if case.maps_target() %}
If the file becomes shorter or its disk full, SIGBUS ends the program
{%- if !case.reserves_blocks() %}: reserve
its blocks with os.posix_fallocate where that matters{% endif %}.
{%- endif %}
{%- if case.hides_eintr() %}
Python itself repeats a sync that failed with EINTR (PEP 475), and so hides that error.
{%- endif %}

Python 3.10 or later, on Linux{% if case.options.is_program %}: python3 FILE.py SOURCE TARGET{% else %}.{% endif %}
"""

IMPORTS
{% if case.threads() > 1 || case.has_writers() || case.is(Method::Pipeline) -%}
from concurrent.futures import ThreadPoolExecutor
{% endif -%}
{% if case.is(Method::Pipeline) -%}
from queue import SimpleQueue
{% endif %}
{% block constants %}
{%- if let Some(chunk) = case.chunk_python() %}
CHUNK = {{ chunk }}
{%- endif %}
{%- if case.threads() > 1 %}
THREADS = {{ case.threads() }}
{%- endif %}
{%- if case.is_vectored() && case.chunk().is_some() %}
VECTOR = {{ case.choices().vector }}  # chunks per call
{%- endif %}
{%- if case.has_writers() %}
WRITERS = {{ case.writers() }}
DEPTH = WRITERS + 1  # buffers: the producer fills one
{%- endif %}
{%- if case.is(Method::Pipeline) %}
DEPTH = {{ case.choices().depth }}  # buffers in turn
{%- endif %}
{%- if case.is_direct() %}
BLOCK = {{ case.block() }}  # with O_DIRECT, addresses, offsets and lengths are multiples of this
{%- endif %}
{%- if case.is_dontcache() %}
RWF_DONTCACHE = 0x80  # Linux 6.14
{%- endif %}
{%- if case.populates() && !case.populates_all() %}
WINDOW = {{ case.window() }}  # bytes made present at a time
{%- endif %}
{%- if case.populates() && case.maps_source() %}
MADV_POPULATE_READ = 22  # Linux 5.14
{%- endif %}
{%- if case.populates() && case.maps_target() %}
MADV_POPULATE_WRITE = 23  # Linux 5.14
{%- endif %}
{%- if case.is(Method::Ficlone) %}
FICLONERANGE = 0x4020940D  # of linux/fs.h, on most architectures
{%- endif %}
{%- if case.omits_checksums() %}
# Of linux/fs.h, on most architectures.
FS_IOC_GETFLAGS = 0x80086601
FS_IOC_SETFLAGS = 0x40086602
FS_NOCOW_FL = 0x800000
{%- endif %}
{% endblock %}
{%- if case.is_direct() %}


def open_file(path, flags, mode=0o666):
    try:
        return os.open(path, flags | os.O_DIRECT, mode)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    # A filesystem without direct I/O refuses, but has made the file.
    return os.open(path, flags & ~os.O_EXCL, mode)
{%- endif %}
{%- if case.options.is_atomic %}


def keep_mode(fd, old):
    """Copies the mode of the replaced file, and its owner and group if permitted."""
    if not stat.S_ISREG(old.st_mode):  # a device or a pipe would become a file
        raise OSError(errno.EINVAL, "The target is not a regular file")
    with contextlib.suppress(OSError):
        os.fchown(fd, -1, old.st_gid)
        os.fchown(fd, old.st_uid, -1)
    os.fchmod(fd, old.st_mode & 0o777)
{%- endif %}
{%- if case.omits_checksums() %}


def omit_checksums(fd):
    """For an empty file: btrfs then makes neither checksums nor copies on write."""
    with contextlib.suppress(OSError):  # others refuse
        (flags,) = struct.unpack("i", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("i", flags | FS_NOCOW_FL))
{%- endif %}
{%- if case.loops_writing() %}


def some(length):
    """A call that writes nothing would be repeated forever."""
    if length == 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return length
{%- endif %}
{%- if case.reserves() && !case.sets_length() %}


def reserve(fd, size):
    """Gives the file its blocks: a full disk fails before any write.

    It is fallocate(2). Where the filesystem has none, the GNU C library writes a byte to
    each block instead, which is slow. musl refuses, and no blocks are reserved.
    """
    if size == 0:  # it is refused
        return
    try:
        os.posix_fallocate(fd, 0, size)
    except OSError as error:
{%- if case.is_direct() %}
        # EINVAL: O_DIRECT refuses to write single bytes.
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
{%- else %}
        if error.errno != errno.EOPNOTSUPP:
            raise
{%- endif %}
{%- if case.maps_target() %}
        os.ftruncate(fd, size)  # no blocks are reserved
{%- endif %}
{%- endif %}
{%- if case.reserves_ahead() %}


def reserve_ahead(fd, reserved, end):
    """Reserves many blocks at once before a write up to `end`. Returns their end.

    The file's length is not known yet. It is fallocate(2). Where the filesystem has none, the
    GNU C library writes a byte to each block instead, which is slow. musl refuses, and no
    blocks are reserved.
    """
    if reserved >= end:
        return reserved
    more = max(64 << 20, end - reserved)
    try:
        os.posix_fallocate(fd, reserved, more)
    except OSError as error:
        # EINVAL: O_DIRECT refuses to write single bytes.
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        return sys.maxsize
    return reserved + more
{%- endif %}
{%- if case.fills_with_zeros() %}


def fill_with_zeros(fd, size):
    """Writes zeros: overwriting written blocks changes no metadata."""
{%- if case.is_direct() %}
    # O_DIRECT writes whole blocks from aligned memory: the excess is cut off.
    zeros = memoryview(mmap.mmap(-1, 64 << 10))
    end = -(-size // 4096) * 4096
{%- else %}
    zeros = memoryview(bytes(64 << 10))
    end = size
{%- endif %}
    at = 0
    while at < end:
        at += some(os.pwrite(fd, zeros[: end - at], at))
{%- if case.is_direct() %}
    os.ftruncate(fd, size)
{%- endif %}
    os.fsync(fd)
{%- if case.is_dontcache() %}
    # RWF_DONTCACHE would keep pages of the zeros.
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
{%- endif %}
{%- endif %}
{%- if case.populates() %}


def populate(mapping, how, at, length):
    """Makes pages present by one call instead of a fault for each."""
    try:
        mapping.madvise(how, at, length)
    except OSError as error:
        # An older kernel refuses. EFAULT stands for SIGBUS: the disk is full, or the file is short.
        if error.errno != errno.EINVAL:
            raise
{%- endif %}
{%- if case.makes_huge_pages() %}


def huge_pages(size):
    """Memory in huge pages, where the kernel has some."""
    huge = 2 << 20
    whole = -(-size // huge) * huge
    memory = mmap.mmap(-1, whole + huge, flags=mmap.MAP_PRIVATE)
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    start = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % huge
    return memoryview(memory)[start : start + size]
{%- endif %}
{%- include "python/source.py" %}
{%- block helpers %}{% endblock %}
{%- if case.creates_name() && case.is_durable() %}


def sync_directory(path):
    """A sync of the directory makes the file's name durable."""
    directory = os.path.dirname(path) or "."
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        words = f"fsync: {error.strerror}"
        if error.errno in (errno.EINVAL, errno.EBADF):
            words += ": the directory cannot be synced here"
        raise OSError(error.errno, words, directory) from error
    finally:
        os.close(fd)
{%- endif %}


{% if case.copies() -%}
def copy_file(source, path):
    with open(source, "rb", buffering=0) as original:
        status = os.fstat(original.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", source)
{%- if case.meets_source() %}
        if is_source(path, status):
            raise OSError(errno.EINVAL, f"The same file as {source}", path)
{%- endif %}
        size = status.st_size
{%- filter indent(4) %}
{%- include "python/run.py" %}
{%- endfilter %}
{%- else if case.options.is_stream -%}
def write_stream(path, source{% if case.expects() %}, expected{% endif %}):
    """The source is a binary file, raw or buffered, or another object with `readinto`.
{%- if case.expects() %}

    Space for `expected` bytes is prepared. The file ends with the data.
    """
{%- else %}"""
{%- endif %}
{%- include "python/run.py" %}
{%- else -%}
def write_file(path, data):
    data = memoryview(data).cast("B")
{%- include "python/run.py" %}
{%- endif %}
{%- if case.options.is_program %}
{%- if !case.copies() && !case.options.is_stream %}


def content_of(path):
    """The content of a file, in page-aligned memory."""
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        size = status.st_size
        # A byte more shows a file that is longer than its status, as in /proc.
{%- if case.is_in_huge_pages() %}
        data = huge_pages(size + 1)
{%- else %}
        data = memoryview(mmap.mmap(-1, size + 1, flags=mmap.MAP_PRIVATE))
{%- endif %}
        at = 0
        while at <= size and (length := file.readinto(data[at : size + 1])) > 0:
            at += length
        if at != size:
            raise OSError(errno.EIO, "The file has another length", path)
        return data[:size]
{%- endif %}


def main():
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} SOURCE TARGET", file=sys.stderr)
        sys.exit(2)
    source, target = sys.argv[1:]
    try:
{%- if case.copies() %}
        start = time.monotonic_ns()
        copy_file(source, target)
{%- else if case.options.is_stream %}
        with open(source, "rb", buffering=0) as file:
{%- if case.meets_source() %}
            if is_source(target, os.fstat(file.fileno())):
                raise OSError(errno.EINVAL, f"The same file as {source}", target)
{%- endif %}
{%- if case.expects() %}
            size = os.fstat(file.fileno()).st_size
{%- endif %}
            start = time.monotonic_ns()
            write_stream(target, file{% if case.expects() %}, size{% endif %})
{%- else %}
        data = content_of(source)
        start = time.monotonic_ns()
        write_file(target, data)
{%- endif %}
        elapsed = time.monotonic_ns() - start
    except OSError as error:
        sys.exit(f"{error.filename or target}: {error.strerror}")
    # For `writebench run --command`: the time without the start and the reading of the source.
    if phases := os.environ.get("WRITEBENCH_PHASES_FD"):
        os.write(int(phases), f"write {elapsed}\n".encode())


if __name__ == "__main__":
    main()
{%- endif %}
