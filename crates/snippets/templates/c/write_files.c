{%- let (reports, writes_set) = (case.reports_c(), case.write_files_c()) -%}
{%- let (compiler, file) = ("cc", "FILE.c") -%}
{% include "c_family/header.c" %}

#define _GNU_SOURCE
INCLUDES
{% include "c/chunk.c" %}
{%- if case.threads() > 1 %}
enum { THREADS = {{ case.threads() }} };
{%- endif %}
{%- include "c_family/file_types.c" %}

// The call that failed, its file or directory, and its error number.
struct failure {
    const char *call, *name;
    int error;
};
{%- include "c_family/files.c" %}
{%- if !case.writes_set() %}

int write_file(const char *path, const void *data, size_t size)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return -1;
    const char *slash = strrchr(path, '/');
    const struct file_data file = {slash == NULL ? path : slash + 1, data, size};
    struct failure failure = {0};
    const int result = write_files(dirname(copy), &file, 1, &failure);
    free(copy);
    errno = failure.error;
    return result;
}
{%- endif %}
{%- if case.options.is_program %}
{%- include "c/huge_pages.c" %}
{% include "c/main.c" %}
{%- endif %}
