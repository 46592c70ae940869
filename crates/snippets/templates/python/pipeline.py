{% extends "python/base.py" %}
{% block helpers %}
{%- include "python/write_all.py" %}
{%- if way.threads() > 1 %}
{%- include "python/borders.py" %}
{%- endif %}


def copy_range(fd, original, size):
    """Copies from the positions of both files on."""
    if size == 0:
        return
{%- if way.is_sequential() %}
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
{%- endif %}
    # Buffers on their way to the thread that reads, and back.
    empty, full = SimpleQueue(), SimpleQueue()
    for _ in range(DEPTH):
        # It begins at a page.
        buffer = mmap.mmap(-1, {% if way.chunk().is_some() %}min(CHUNK, size){% else %}size{% endif %}, flags=mmap.MAP_PRIVATE)
        empty.put(memoryview(buffer))

    def read_all():
        at = 0
        try:
            while at < size and (buffer := empty.get()) is not None:
                length = original.readinto(buffer[: size - at])
                if length == 0:
                    raise OSError(errno.EIO, "The source has become shorter")
                at += length
                full.put((buffer, length))
        finally:
            full.put(None)

    with ThreadPoolExecutor(1) as reader:
        reading = reader.submit(read_all)
        try:
            while (item := full.get()) is not None:
                buffer, length = item
{%- if way.is_direct() %}
                write_all(fd, buffer[:length])
{%- else %}
                written = 0
                while written < length:
                    written += os.write(fd, buffer[written:length])
{%- endif %}
                empty.put(buffer)
        finally:
            empty.put(None)  # after an error here, the reader ends
        reading.result()  # raises the reader's error


def copy_data({% if way.threads() > 1 %}path, fd, source, original{% else %}fd, original{% endif %}, size):
{%- include "python/before.py" %}
{%- if way.threads() > 1 %}
{%- include "python/copy_parts.py" %}
{%- else %}
    copy_range(fd, original, size)
{%- endif %}
{%- include "python/after.py" %}
{% endblock %}
