{%- if case.is_direct() %}


def write_all(fd, data{% if case.is_positional() %}, offset{% endif %}):
    whole = len(data) // BLOCK * BLOCK
    at = 0
    while at < whole:
        at += {{ case.part_call_python("data[at:whole]", "offset + at") }}
    if at < len(data):
        # The end of the file is less than a block: through the page cache.
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_DIRECT)
        while at < len(data):
            at += {{ case.part_call_python("data[at:]", "offset + at") }}
{%- endif %}
