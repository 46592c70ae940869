{% extends "c/base.c" %}
{% block fill %}

static int fill(int fd, int input, size_t size)
{
{%- if case.reserves() %}
    if (reserve(fd, size) != 0)
        return -1;
{%- endif %}
{%- if case.overwrites() %}
    // A clone may end within a block only at the file's end.
    if (ftruncate(fd, (off_t)size) != 0)
        return -1;
{%- endif %}
    // Both files share their blocks until one is written. EOPNOTSUPP, EXDEV or EINVAL: not on this filesystem.
    struct file_clone_range all = {.src_fd = input, .src_length = {% if case.checks_end() %}size{% else %}0{% endif %}};
    if (ioctl(fd, FICLONERANGE, &all) != 0)
        return -1;
{%- if !case.checks_end() %}
    (void)size;
{%- endif %}
{%- if case.syncs_at_end() %}
    return {{ case.sync_name() }}(fd);
{%- else %}
    return 0;
{%- endif %}
}
{% endblock %}
