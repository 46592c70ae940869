

{%- if let Some((least, most)) = case.file_sizes() %}

// The case's sizes of the files: evenly spread over the logarithm.
static std::size_t size_of_file(std::size_t number)
{
    double size = {{ least }}, factor = {{ most }} / size;
    for (; number > 0; number >>= 1) {
        factor = std::sqrt(factor);
        if (number % 2 == 1)
            size *= factor;
    }
    return static_cast<std::size_t>(size);
}
{%- endif %}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s SOURCE TARGET\n", argv[0]);
        return 2;
    }
    std::ifstream source{argv[1], std::ios::binary};
    const std::string data{std::istreambuf_iterator<char>{source}, {}};
    if (!source) {
        std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
        return 1;
    }
{%- if case.writes_set() %}
{%- if let Some(size) = case.file_size() %}
    constexpr std::size_t file_size = {{ case.size_cpp(size) }};
{%- endif %}
    std::deque<std::string> names; // which stay where they are
    std::vector<file_data> files;
    for (std::size_t at = 0; at < data.size(); at += files.back().size) {
        const std::string number = std::to_string(names.size());
        names.push_back("writebench" + std::string(7 - std::min<std::size_t>(number.size(), 7), '0') + number);
        const std::size_t size = std::min({% if case.file_size().is_some() %}file_size{% else %}size_of_file(files.size()){% endif %}, data.size() - at);
        files.push_back({names.back().c_str(), data.data() + at, size});
    }
{%- endif %}
    try {
        const auto start = std::chrono::steady_clock::now();
{%- if !case.writes_set() %}
        write_file(argv[2], data.data(), data.size());
{%- else %}
        write_files(argv[2], files);
{%- endif %}
        const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
        // For `writebench run --command`: the time of the function alone.
        if (const char *phases = std::getenv("WRITEBENCH_PHASES_FD"))
            ::dprintf(std::atoi(phases), "write %lld\n", static_cast<long long>(took.count()));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[2], error.what());
        return 1;
    }
}
