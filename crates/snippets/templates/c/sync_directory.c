{%- if case.creates_name() && case.is_durable() %}

// A sync of the directory makes the file's name durable.
static int sync_directory(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return -1;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return -1;
    int result = fsync(fd), error = errno;
    close(fd);
    errno = error;
    return result;
}
{%- endif %}
