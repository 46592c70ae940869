{%- if case.creates_name() && case.is_durable() %}

// A sync of the directory makes the file's name durable. Returns 0, or -2 with errno.
static int sync_directory(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return -2;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return -2;
    int result = fsync(fd) == 0 ? 0 : -2, error = errno;
    close(fd);
    errno = error;
    return result;
}
{%- endif %}
