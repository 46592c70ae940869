{%- let (reports, compiler, file) = ("Throws std::system_error, with the failed call and its file.", "c++ -std=c++17", "FILE.cpp") -%}
{% include "c_family/header.c" %}

INCLUDES
{% if case.writes_set() %}
{%- include "c_family/file_types.c" %}
{%- endif %}

namespace {
{% include "cpp/constants.cpp" %}
{%- if !case.writes_set() %}
{%- include "c_family/file_types.c" %}
{%- endif %}

// The call that failed, its file or directory, and its error number.
struct failure {
    const char *call, *name;
    int error;
};
{%- let writes_set = "int write_set" %}
{%- include "c_family/files.c" %}

} // namespace

{% if !case.writes_set() -%}
void write_file(const char *path, const void *data, std::size_t size)
{
    const std::filesystem::path whole{path};
    const std::string directory = whole.has_parent_path() ? whole.parent_path().string() : ".";
    const std::string name = whole.filename().string();
    const file_data file{name.c_str(), static_cast<const char *>(data), size};
{%- else -%}
void write_files(const char *directory, const std::vector<file_data> &files)
{
{%- endif %}
    failure failure{};
    if (write_set({% if !case.writes_set() %}directory.c_str(), &file, 1{% else %}directory, files.data(), files.size(){% endif %}, &failure) != 0)
        throw std::system_error{failure.error, std::generic_category(), std::string{failure.call} + ' ' + failure.name};
}
{%- if case.options.is_program %}
{%- include "cpp/main_files.cpp" %}
{%- endif %}
