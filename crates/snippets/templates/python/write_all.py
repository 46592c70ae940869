{%- if way.is_direct() %}


def write_all(fd, data):
    whole = len(data) // BLOCK * BLOCK
    at = 0
    while at < whole:
        at += os.write(fd, data[at:whole])
    if at < len(data):
        # The end of the file is no whole block: through the page cache.
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_DIRECT)
        while at < len(data):
            at += os.write(fd, data[at:])
{%- endif %}
