

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
    constexpr std::size_t file_size = {{ case.size_cpp(case.file_size()) }};
    std::vector<std::string> names;
    for (std::size_t at = 0; at < data.size(); at += file_size) {
        const std::string number = std::to_string(names.size());
        names.push_back("writebench" + std::string(7 - std::min<std::size_t>(number.size(), 7), '0') + number);
    }
    std::vector<file_data> files;
    for (std::size_t at = 0; at < data.size(); at += file_size)
        files.push_back({names[files.size()].c_str(), data.data() + at, std::min(file_size, data.size() - at)});
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
