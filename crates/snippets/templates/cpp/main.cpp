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
    const std::size_t size = size_of(file);
    Memory data = allocate(2 << 20, size);
    for (std::size_t at = 0; at < size;) {
        const ssize_t got = ::read(file.get(), data.get() + at, size - at);
        if (got > 0)
            at += static_cast<std::size_t>(got);
        else if (got == 0 || errno != EINTR)
            fail("read", got == 0 ? EIO : errno); // 0: it has become shorter
    }
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
{%- if case.expects() %}
        const std::size_t expected = size_of(source);
{%- endif %}
        path = argv[2];
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
