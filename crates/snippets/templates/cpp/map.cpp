{% extends "cpp/base.cpp" %}
{% block declarations %}
{%- include "cpp/constants.cpp" %}
{% endblock %}
{% block helpers %}
{%- include "c_family/stores.c" %}
{%- include "cpp/mapping.cpp" %}
{%- include "c_family/map_target.c" %}
{%- if case.sync_every().is_some() %}

void make_durable({% if case.syncs_map() %}char *from, char *until{% else %}int fd{% endif %})
{
{%- if case.syncs_map() %}
    from -= reinterpret_cast<std::uintptr_t>(from) % 4096; // msync(2) begins at a page
    if (::msync(from, static_cast<std::size_t>(until - from), MS_SYNC) != 0)
        fail("msync");
{%- else %}
    if (::{{ case.sync_name() }}(fd) != 0)
        fail("{{ case.sync_name() }}");
{%- endif %}
}
{%- endif %}
{%- if !case.is_plain_map_cpp() %}

// Stores `size` bytes.
void store_range({% if case.syncs_file_on_the_way() %}int fd, {% endif %}char *map, const char *data, std::size_t size)
{
{%- if case.chunk().is_none() %}
    const std::size_t chunk_size = size;
{%- endif %}
{%- if case.sync_every().is_some() %}
    std::size_t chunks = 0; // since the last sync
{%- if case.syncs_map() %}
    char *synced = map;
{%- endif %}
{%- endif %}
{%- if case.prepares_windows() %}
    std::size_t prepared = 0;
{%- endif %}
    for (std::size_t at = 0; at < size;) {
{%- if case.prepares_windows() %}
        if (at == prepared) {
            prepared = at + std::min(window_size, size - at);
            if (prepare_window(map + at, prepared - at) != 0)
                fail("madvise(MADV_POPULATE_WRITE)");
        }
        const std::size_t length = std::min(chunk_size, prepared - at);
{%- else %}
        const std::size_t length = std::min(chunk_size, size - at);
{%- endif %}
        {{ case.store_c() }}(map + at, data + at, length);
        at += length;
{%- if let Some(every) = case.sync_every() %}
        if (++chunks >= {{ every }} || at == size) {
{%- if case.syncs_map() %}
            make_durable(synced, map + at);
            synced = map + at;
{%- else %}
            make_durable(fd);
{%- endif %}
            chunks = 0;
        }
{%- endif %}
    }
}
{%- endif %}
{%- if !case.has_own_maps() %}

void write_mapped(int fd, const char *data, std::size_t size)
{
    const Mapping map{map_file(fd, 0, size), size};
{%- if case.is_plain_map_cpp() %}
{%- if case.chunk().is_some() %}
    for (std::size_t at = 0; at < size; at += chunk_size)
        {{ case.store_c() }}(map.data() + at, data + at, std::min(chunk_size, size - at));
{%- else %}
    {{ case.store_c() }}(map.data(), data, size);
{%- endif %}
{%- else if case.threads() > 1 %}
    in_parts(size, [&](std::size_t from, std::size_t until) {
        store_range({% if case.syncs_file_on_the_way() %}fd, {% endif %}map.data() + from, data + from, until - from);
    });
{%- else %}
    store_range({% if case.syncs_file_on_the_way() %}fd, {% endif %}map.data(), data, size);
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
    // A mapping does not make the file longer.
    const auto old_size = static_cast<std::size_t>(status_of(file).st_size);
    if (old_size < size && ::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        fail("ftruncate");
{%- endif %}
{%- if case.has_own_maps() %}
    const auto bytes = static_cast<const char *>(data);
    in_parts(size, [&](std::size_t from, std::size_t until) {
        if (from == until) // a mapping cannot be empty
            return;
{%- if case.has_own_descriptors() %}
        std::optional<Descriptor> own; // the first part has the file's
        const int fd = from == 0 ? file.get() : own.emplace({{ case.path_cpp() }}, {{ case.access_flags()[0] }}).get();
{%- else %}
        const int fd = file.get();
{%- endif %}
        const Mapping map{map_file(fd, from, until - from), until - from};
        store_range({% if case.syncs_file_on_the_way() %}fd, {% endif %}map.data(), bytes + from, until - from);
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
        write_mapped(file.get(), static_cast<const char *>(data), size);
{%- endif %}
{%- endblock %}
