"""{{ case.name() }}

{%- for line in case.about() %}
{% if loop.first %}
{% endif %}{{ line }}
{%- endfor %}


{%- for line in case.errors("Raises OSError with the failed call and its file.") %}
{{ line }}
{%- endfor %}

Python 3.10 or later, on Linux{% if case.options.is_program %}: python3 FILE.py SOURCE TARGET{% else %}.{% endif %}
"""

IMPORTS
{% if case.threads() > 1 -%}
from concurrent.futures import ThreadPoolExecutor
{% endif %}
{%- if let Some(chunk) = case.chunk() %}
CHUNK = {{ chunk }}
{%- endif %}
{%- if case.threads() > 1 %}
THREADS = {{ case.threads() }}
{%- endif %}
{%- if case.options.is_program && case.writes_set() %}
{%- if let Some(size) = case.file_size() %}
FILE_SIZE = {{ size }}
{%- endif %}
{%- endif %}


def call(function, name, *arguments, **options):
    """Calls a function of module os for the file with that name."""
    try:
        return function(*arguments, **options)
    except OSError as error:
        words = f"{function.__name__}: {error.strerror}"
        raise OSError(error.errno, words, name) from error
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


def write_data(fd, name, data):
    at = 0
    while at < len(data):
{%- if case.chunk().is_some() %}
        length = call(os.write, name, fd, data[at : at + CHUNK])
{%- else %}
        length = call(os.write, name, fd, data[at:])
{%- endif %}
        if length == 0:  # it would be repeated forever
            raise OSError(errno.EIO, os.strerror(errno.EIO), name)
        at += length
{%- if case.has_other_name() %}


def give_name(directory, other, name):
    call(os.rename, name, other, name, src_dir_fd=directory, dst_dir_fd=directory)
{%- endif %}


def write_one(directory, name, data{{ case.other("suffix") }}):
    data = memoryview(data).cast("B")
{%- if case.has_other_name() %}
    other = name + suffix
{%- endif %}
{%- if case.options.is_atomic %}
    try:
        old = os.stat(name, dir_fd=directory)
    except FileNotFoundError:
        old = None
    mode = old.st_mode & 0o777 if old else 0o666
{%- endif %}
    flags = {{ case.set_flags("os.") }}
    fd = call(os.open, name, {% if case.is_tmpfile() %}"."{% else %}{{ case.written("other", "name") }}{% endif %}, flags, {% if case.options.is_atomic %}mode{% else %}0o666{% endif %}, dir_fd=directory)
{%- if case.removes_one() %}
    try:
{%- filter indent(4) %}
{%- include "python/fill_one.py" %}
{%- endfilter %}
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink({{ case.written("other", "name") }}, dir_fd=directory)
        raise
{%- else %}
{%- include "python/fill_one.py" %}
{%- endif %}
{%- if case.syncs_batch() %}


def sync_one(directory, name{{ case.other("suffix") }}):
    fd = call(os.open, name, {% if case.has_other_name() %}name + suffix{% else %}name{% endif %}, os.O_RDONLY, dir_fd=directory)
    try:
        # After an error, the data may be lost although a second call succeeds: write it again.
        call(os.fsync, name, fd)
    finally:
        os.close(fd)
{%- endif %}


def write_part(directory, files{{ case.other("suffix") }}):
    for name, data in files:
        write_one(directory, name, data{{ case.other("suffix") }})
{%- if case.syncs_batch() %}
    for name, _ in files:
        sync_one(directory, name{{ case.other("suffix") }})
{%- endif %}


def write_files(path, files):
    """The files are pairs of a name in the directory at `path`, and its content."""
    directory = call(os.open, path, path, os.O_RDONLY | os.O_DIRECTORY)
    try:
{%- if case.has_other_name() %}
        suffix = f".{os.getpid()}.{time.time_ns()}.tmp"  # until a file is complete
{%- endif %}
{%- if case.has_other_name() && case.syncs_afterwards() %}
        try:
{%- filter indent(4) %}
{%- include "python/write_parts.py" %}
{%- endfilter %}
            # No file gets its name before its data is durable.
            for name, _ in files:
                give_name(directory, name + suffix, name)
        except BaseException:
            for name, _ in files:
                with contextlib.suppress(OSError):
                    os.unlink(name + suffix, dir_fd=directory)
            raise
{%- else %}
{%- include "python/write_parts.py" %}
{%- endif %}
{%- if case.is_durable() %}
        # Names are durable with their directory.
        try:
            call(os.fsync, path, directory)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EBADF):
                error.strerror += ": the directory cannot be synced here"
            raise
{%- endif %}
    finally:
        os.close(directory)
{%- if !case.writes_set() %}


def write_file(path, data):
    directory, name = os.path.split(path)
    write_files(directory or ".", [(name, data)])
{%- endif %}
{%- if case.options.is_program %}

{%- if let Some((least, most)) = case.file_sizes() %}


def size_of_file(number):
    """The case's sizes of the files: evenly spread over the logarithm."""
    size, factor = {{ least }}.0, {{ most }} / {{ least }}
    while number > 0:
        factor = math.sqrt(factor)
        if number % 2 == 1:
            size *= factor
        number //= 2
    return int(size)
{%- endif %}


def main():
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} SOURCE TARGET", file=sys.stderr)
        sys.exit(2)
    source, target = sys.argv[1:]
    try:
        with open(source, "rb") as file:
            data = memoryview(file.read())
{%- if case.writes_set() %}
        files = []
        at = 0
        while at < len(data):
            part = data[at : at + {% if case.file_size().is_some() %}FILE_SIZE{% else %}size_of_file(len(files)){% endif %}]
            files.append((f"writebench{len(files):07}", part))
            at += len(part)
{%- endif %}
        start = time.monotonic_ns()
{%- if case.writes_set() %}
        write_files(target, files)
{%- else %}
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
