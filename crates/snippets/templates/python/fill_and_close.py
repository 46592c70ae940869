
    try:
{%- if case.omits_checksums() %}
        omit_checksums(fd)
{%- endif %}
{%- if case.options.is_atomic %}
        if old:
            keep_mode(fd, old)
{%- endif %}
        {% if case.copies() -%}
copy_data({% if case.threads() > 1 %}{% if case.has_own_descriptors() %}{{ case.written_name() }}, {% endif %}fd, source{% else %}fd{% endif %}, original, size
{%- else -%}
write_data({% if case.options.is_stream %}fd, source{% if case.expects() %}, expected{% endif %}
{%- else %}{% if case.has_own_descriptors() %}{{ case.written_name() }}, {% endif %}fd, data{% endif %}
{%- endif %}{% if case.maps_target() && !case.options.is_stream %}, mappings{% endif %})
{%- if case.checks_end() %}
        # It may be longer now, or never had that length, as in /proc.
        if os.pread(original.fileno(), 1, size):
            raise OSError(errno.EIO, "The source has become longer", source)
{%- endif %}
{%- if case.reopens_copy() %}
        {% if case.options.is_atomic %}if not old:
            {% endif %}narrow_mode(fd, status.st_mode)
{%- endif %}
    finally:
        # This may report a late error of the filesystem, such as NFS.
        os.close(fd)
