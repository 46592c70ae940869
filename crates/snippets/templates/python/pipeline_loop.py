{%- if case.is_sequential() %}
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
{%- endif %}
    # Buffers to and from the reading thread.
    empty, full = SimpleQueue(), SimpleQueue()
    for _ in range(DEPTH):
        # Page-aligned memory is copied faster.
        length = max({% include "python/buffer.py" %}, 1)
        empty.put(memoryview(mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE)))

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
{%- if case.is_direct() %}
                write_all(fd, buffer[:length])
{%- else %}
                written = 0
                while written < length:
                    written += some(os.write(fd, buffer[written:length]))
{%- endif %}
                empty.put(buffer)
        finally:
            empty.put(None)  # after an error here, the reader ends
        reading.result()  # raises the reader's error
