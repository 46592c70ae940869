

// Where thread `i` begins. Its part is whole windows or chunks{% if case.parts_are_pages() %}, and begins at a page{% endif %}.
static size_t border(size_t size, size_t i)
{
{%- if case.parts_are_pages() %}
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = ({{ case.granule() }} + page - 1) / page * page;
    const size_t granule = whole <= size / THREADS ? whole : page;
{%- else %}
    const size_t whole = {{ case.granule() }};
    const size_t least = size / THREADS >= 4096 ? 4096 : 1;
    const size_t granule = whole <= size / THREADS ? whole : least;
{%- endif %}
    size_t at = ((size + granule - 1) / granule) * i / THREADS * granule;
    return at < size ? at : size;
}
