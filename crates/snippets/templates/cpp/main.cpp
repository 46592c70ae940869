{% if case.options.is_stream %}

// The next bytes of a file, or 0 at its end.
static std::size_t read_some(const Descriptor &file, char *buffer, std::size_t size)
{
    ssize_t got;
    do
        got = ::read(file.get(), buffer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        fail("read");
    return static_cast<std::size_t>(got);
}
{% else if !case.copies() %}

// The content of a file, in memory for O_DIRECT and huge pages.
static std::pair<Memory, std::size_t> content_of(const char *path)
{
    const Descriptor file{path, O_RDONLY};
    const auto size = static_cast<std::size_t>(status_of_regular(file).st_size);
    Memory data = allocate(2 << 20, size + 1);
    // A byte more shows a file that is longer than its status, as in /proc.
    std::size_t at = 0;
    for (ssize_t got = 1; got != 0 && at <= size; at += got > 0 ? static_cast<std::size_t>(got) : 0) {
        got = ::read(file.get(), data.get() + at, size + 1 - at);
        if (got < 0 && errno != EINTR)
            fail("read");
    }
    if (at != size)
        fail("the file has another length", EIO);
    return {std::move(data), size};
}
{% endif %}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s SOURCE TARGET\n", argv[0]);
        return 2;
    }
    const char *path = argv[{% if case.copies() %}2{% else %}1{% endif %}];
    try {
{%- if case.options.is_stream %}
        const Descriptor source{path, O_RDONLY};
        const auto next = [&source](char *buffer, std::size_t size) {
            return read_some(source, buffer, size);
        };
{%- if case.expects() || case.meets_source() %}
        const struct stat status = status_of(source);
{%- endif %}
{%- if case.expects() %}
        const auto expected = static_cast<std::size_t>(status.st_size);
{%- endif %}
        path = argv[2];
{%- if case.meets_source() %}
        if (is_source(path, &status))
            fail("the source is the same file", EINVAL);
{%- endif %}
{%- else if !case.copies() %}
        const auto [data, size] = content_of(path);
        path = argv[2];
{%- endif %}
        const auto start = std::chrono::steady_clock::now();
        {% if case.copies() %}copy_file(argv[1], path)
{%- else if case.options.is_stream %}write_stream(path, next{% if case.expects() %}, expected{% endif %})
{%- else %}write_file(path, data.get(), size){% endif %};
        const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
        // For `writebench run --command`: the time of the function alone.
        if (const char *phases = std::getenv("WRITEBENCH_PHASES_FD"))
            ::dprintf(std::atoi(phases), "write %lld\n", static_cast<long long>(took.count()));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", path, error.what());
        return 1;
    }
}
