{%- if case.reserves() %}

// Gives the file {% if case.sets_length() %}its length{% else if case.writes_zeroes() %}blocks that the device zeroes: overwriting them changes no metadata{% else %}its blocks: a full disk fails before any write{% endif %}.
static int reserve(int fd, size_t size)
{
    int result;
{%- if !case.sets_length() %}
    if (size == 0) // it is refused
        return 0;
{%- endif %}
    do
        result = {% if case.sets_length() %}ftruncate(fd, (off_t)size)
{%- else if case.choices().prepare == Prepare::PosixFallocate %}posix_fallocate(fd, 0, (off_t)size)
{%- else if case.choices().prepare == Prepare::FallocateKeepSize %}fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size)
{%- else if case.choices().prepare == Prepare::FallocateZeroRange %}fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, (off_t)size)
{%- else if case.writes_zeroes() %}fallocate(fd, FALLOC_FL_WRITE_ZEROES, 0, (off_t)size)
{%- else %}fallocate(fd, 0, 0, (off_t)size){% endif %};
    while (result {% if case.choices().prepare == Prepare::PosixFallocate %}== EINTR{% else %}!= 0 && errno == EINTR{% endif %});
{%- if case.sets_length() %}
    return result;
{%- else %}
{%- if case.choices().prepare == Prepare::PosixFallocate %}
    if (result != 0)
        errno = result;
{%- endif %}
{%- if case.choices().prepare == Prepare::PosixFallocate && case.is_direct() %}
    // EINVAL: glibc's substitute for it writes single bytes, which O_DIRECT refuses.
    if (result != 0 && (errno == EOPNOTSUPP || errno == EINVAL))
{%- else %}
    if (result != 0 && errno == EOPNOTSUPP)
{%- endif %}
        return {% if case.maps_target() %}ftruncate(fd, (off_t)size){% else %}0{% endif %}; // {{ case.cannot_reserve() }}
    return result == 0 ? 0 : -1;
{%- endif %}
}
{%- endif %}
