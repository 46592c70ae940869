{% extends "cpp/base.cpp" %}
{% block fill %}
{%- if case.overwrites() %}
    // A clone may end within a block only at the file's end.
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        fail("ftruncate");
{%- endif %}
    // Both files share their blocks until one is written. EOPNOTSUPP, EXDEV, EINVAL: these cannot.
    file_clone_range all{};
    all.src_fd = input.get();
{%- if case.checks_end() %}
    all.src_length = size;
{%- endif %}
    if (::ioctl(file.get(), FICLONERANGE, &all) != 0)
        fail("ioctl(FICLONERANGE)");
{%- endblock %}
