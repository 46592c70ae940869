
static ssize_t read_source(void *context, void *buffer, size_t size)
{
    ssize_t got;
    do
        got = read(*(const int *)context, buffer, size);
    while (got < 0 && errno == EINTR);
    return got;
}
