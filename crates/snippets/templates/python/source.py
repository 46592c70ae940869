{%- if case.meets_source() %}


def is_source(path, status):
    """Whether the path leads to the source: to open it would empty that."""
    try:
        return os.path.samestat(os.stat(path), status)
    except FileNotFoundError:
        return False
{%- endif %}
{%- if case.reopens_copy() %}


def narrow_mode(fd, source):
    """The owner may read and write the copy until now, because it is opened again."""
    if source & 0o600 != 0o600:
        os.fchmod(fd, os.fstat(fd).st_mode & source & 0o777)
{%- endif %}
