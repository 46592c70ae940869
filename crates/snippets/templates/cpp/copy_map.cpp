{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}
{%- if case.is(Method::MmapMmap) %}
{%- include "c_family/stores.c" %}
{%- endif %}
{%- include "cpp/mapping.cpp" %}
{%- include "c_family/map_target.c" %}

// Copies the bytes between two offsets into a mapping that begins with them.
{%- if case.is(Method::ReadMmap) %}
// The source's position is the first.
{%- endif %}
void copy_range(char *map, int input, std::size_t from, std::size_t until)
{
    const std::size_t size = until - from;
{%- if case.chunk().is_none() %}
    const std::size_t chunk_size = size;
{%- endif %}
{%- if case.is(Method::MmapMmap) %}
    const Mapping data{::mmap(nullptr, size, PROT_READ, MAP_SHARED, input, static_cast<off_t>(from)), size};
{%- if case.is_sequential() %}
    ::madvise(data.data(), size, MADV_WILLNEED);
    ::madvise(data.data(), size, MADV_SEQUENTIAL);
{%- endif %}
{%- else if case.is_sequential() %}
    ::posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    ::posix_fadvise(input, 0, 0, POSIX_FADV_SEQUENTIAL);
{%- endif %}
{%- if case.prepares_windows() %}
    std::size_t prepared = 0;
{%- endif %}
    for (std::size_t at = 0; at < size;) {
{%- if case.prepares_windows() %}
        if (at >= prepared) {
            prepared = std::min(size, (at / window_size + 1) * window_size);
{%- if case.is(Method::MmapMmap) && case.populates() %}
            ::madvise(data.data() + at, prepared - at, MADV_POPULATE_READ); // older kernels refuse
{%- endif %}
            if (prepare_window(map + at, prepared - at) != 0)
                fail("madvise(MADV_POPULATE_WRITE)");
        }
{%- endif %}
        const std::size_t most = std::min(chunk_size, size - at);
{%- if case.is(Method::MmapMmap) %}
        {{ case.store_c() }}(map + at, data.data() + at, most);
        at += most;
{%- else %}
        const ssize_t moved = ::read(input, map + at, most);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            fail("read", moved == 0 ? EIO : errno); // 0: the source has become shorter
        at += static_cast<std::size_t>(moved);
{%- endif %}
    }
}
{%- if !case.has_own_maps() %}

void copy_mapped({% if case.threads() > 1 %}const char *source, {% endif %}int fd, int input, std::size_t size)
{
    const Mapping map{map_file(fd, 0, size), size};
{%- if case.threads() > 1 %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        if (from == until) // a mapping cannot be empty
            return;
        // A new descriptor has its own position. The first part uses the file's.
        if (from == 0)
            return copy_range(map.data(), input, from, until);
        const Descriptor own{source, O_RDONLY};
{%- if case.is(Method::ReadMmap) %}
        if (::lseek(own.get(), static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
{%- endif %}
        copy_range(map.data() + from, own.get(), from, until);
    });
{%- else %}
    copy_range(map.data(), input, 0, size);
{%- endif %}
{%- if case.syncs_at_end() %}
{%- if case.syncs_map() %}
    map.sync();
{%- else %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (::{{ case.sync_name() }}(fd) != 0)
        fail("{{ case.sync_name() }}");
{%- endif %}
{%- endif %}
}
{%- endif %}
{% endblock %}
{% block fill %}
{%- if case.overwrites() %}
    // A mapping does not make the file longer, and it may have been longer.
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        fail("ftruncate");
{%- endif %}
{%- if case.has_own_maps() %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        if (from == until) // a mapping cannot be empty
            return;
        // A new descriptor has its own position. The first part uses the files'.
        std::optional<Descriptor> own_input{% if case.has_own_descriptors() %}, own{% endif %};
        const int in = from == 0 ? input.get() : own_input.emplace(source, O_RDONLY).get();
{%- if case.is(Method::ReadMmap) %}
        if (from > 0 && ::lseek(in, static_cast<off_t>(from), SEEK_SET) < 0)
            fail("lseek");
{%- endif %}
{%- if case.has_own_descriptors() %}
        const int fd = from == 0 ? file.get() : own.emplace({{ case.path_cpp() }}, {{ case.access_flags()[0] }}).get();
{%- else %}
        const int fd = file.get();
{%- endif %}
        const Mapping map{map_file(fd, from, until - from), until - from};
        copy_range(map.data(), in, from, until);
{%- if case.syncs_at_end() && case.syncs_map() %}
        map.sync();
{%- endif %}
{%- if case.has_own_descriptors() %}
        if (own)
            own->close();
{%- endif %}
    });
{%- if case.syncs_at_end() && !case.syncs_map() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (::{{ case.sync_name() }}(file.get()) != 0)
        fail("{{ case.sync_name() }}");
{%- endif %}
{%- else %}
    if (size > 0) // a mapping cannot be empty
        copy_mapped({% if case.threads() > 1 %}source, {% endif %}file.get(), input.get(), size);
{%- endif %}
{%- endblock %}
