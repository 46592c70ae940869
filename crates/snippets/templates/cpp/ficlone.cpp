{% extends "cpp/base.cpp" %}
{% block fill %}
    // Both files share their blocks until one is written. EOPNOTSUPP, EXDEV, EINVAL: these cannot.
    file_clone_range all{};
    all.src_fd = input.get();
    if (::ioctl(file.get(), FICLONERANGE, &all) != 0)
        fail("ioctl(FICLONERANGE)");
{%- endblock %}
