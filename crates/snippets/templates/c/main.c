{% if case.options.is_append %}
{% else if case.options.is_stream %}
{% include "c/main_stream.c" %}
{% else if !case.copies() %}
// The content of a file, in memory for O_DIRECT.
static char *content_of(const char *path, size_t *size)
{
    struct stat status;
    void *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return NULL;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL; // the length of a pipe or a device is unknown
        return NULL;
    }
    *size = (size_t)status.st_size;
    if ((errno = {{ case.memalign_c("&data", "2 << 20") }}, *size + 1)) != 0)
        return NULL;
    // A byte more shows a file that is longer than its status, as in /proc.
    size_t at = 0;
    for (ssize_t got = 1; got != 0 && at <= *size; at += got > 0 ? (size_t)got : 0) {
        got = read(fd, (char *)data + at, *size + 1 - at);
        if (got < 0 && errno != EINTR)
            return NULL;
    }
    if (at != *size) {
        errno = EIO;
        return NULL;
    }
    close(fd);
    return data;
}
{% endif %}
static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

{%- if case.writes_set() %}
{%- if let Some(size) = case.file_size() %}

static const size_t FILE_SIZE = (size_t){{ size }};
{%- else if let Some((least, most)) = case.file_sizes() %}

// The case's sizes of the files: evenly spread over the logarithm.
static size_t size_of_file(size_t number)
{
    double size = {{ least }}, factor = {{ most }} / size;
    for (; number > 0; number >>= 1) {
        factor = sqrt(factor);
        if (number % 2 == 1)
            size *= factor;
    }
    return (size_t)size;
}
{%- endif %}
{%- endif %}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s SOURCE TARGET\n", argv[0]);
        return 2;
    }
{%- if case.options.is_stream %}
    struct stat status;
    int source = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (source < 0 || fstat(source, &status) != 0) {
        perror(argv[1]);
        return 1;
    }
{%- if case.meets_source() %}
    if (is_source(argv[2], &status)) {
        fprintf(stderr, "%s: the same file as %s\n", argv[2], argv[1]);
        return 1;
    }
{%- endif %}
{%- else if !case.copies() %}
    size_t size;
    char *data = content_of(argv[1], &size);
    if (data == NULL) {
        perror(argv[1]);
        return 1;
    }
{%- endif %}
{%- if case.writes_set() %}
{%- if case.file_size().is_some() %}
    const size_t count = (size + FILE_SIZE - 1) / FILE_SIZE;
{%- else %}
    size_t count = 0;
    for (size_t at = 0; at < size; count++)
        at += size_of_file(count);
{%- endif %}
    struct file_data *files = calloc(count + 1, sizeof *files);
    char (*names)[32] = calloc(count + 1, sizeof *names);
    for (size_t i = 0, at = 0; i < count; at += files[i++].size) {
        const size_t most = {% if case.file_size().is_some() %}FILE_SIZE{% else %}size_of_file(i){% endif %};
        snprintf(names[i], sizeof names[i], "writebench%07zu", i);
        files[i] = (struct file_data){names[i], data + at, size - at < most ? size - at : most};
    }
    struct failure failure = {0};
{%- endif %}
    int64_t start = now_ns();
{%- if case.writes_set() %}
    if (write_files(argv[2], files, count, &failure) != 0) {
        fprintf(stderr, "%s: %s: %s\n", failure.name, failure.call, strerror(failure.error));
        return 1;
    }
{%- else %}
    const int result = {% if case.copies() %}copy_file(argv[1], argv[2])
{%- else if case.options.is_append %}append_source(argv[2], source{% if case.expects() %}, (size_t)status.st_size{% endif %})
{%- else if case.options.is_stream %}write_stream(argv[2], read_source, &source{% if case.expects() %}, (size_t)status.st_size{% endif %})
{%- else %}write_file(argv[2], data, size){% endif %};
{%- if case.syncs_directory() %}
    if (result == -2) {
        const char *call = "fsync of the directory";
        if (errno == EINVAL || errno == EBADF)
            call = "fsync: the directory cannot be synced here";
        fprintf(stderr, "%s: %s: %s\n", dirname(argv[2]), call, strerror(errno));
        return 1;
    }
{%- endif %}
    if (result != 0) {
        perror(argv[2]);
        return 1;
    }
{%- endif %}
    // For `writebench run --command`: the time without the start and the reading of the source.
    const char *phases = getenv("WRITEBENCH_PHASES_FD");
    if (phases != NULL)
        dprintf(atoi(phases), "write %lld\n", (long long)(now_ns() - start));
    return 0;
}
