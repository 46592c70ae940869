/* After the clock: the second probe, the files' sizes (and content, if PARITY_CHECK is set), the line
 * of figures. */
#ifndef PARITY_FINISH_H
#define PARITY_FINISH_H

static inline void check_content(const struct file *file)
{
    enum { BUFFER_BYTES = 1 << 16 };
    static char buffer[BUFFER_BYTES];
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        die("open to check");
    for (uint64_t at = 0; at < file->size_bytes;) {
        ssize_t got = read(descriptor, buffer, BUFFER_BYTES);
        if (got <= 0)
            die("read to check");
        if (memcmp(buffer, file->source + at, (size_t)got) != 0)
            die_of("content is wrong", EILSEQ);
        at += (uint64_t)got;
    }
    close(descriptor);
}

static inline uint64_t check_file(const struct file *file)
{
    struct stat status;
    if (stat(file->path, &status) != 0)
        die("stat");
    if ((uint64_t)status.st_size != file->size_bytes)
        die_of("size is wrong", EILSEQ);
    if (file->source != NULL && getenv("PARITY_CHECK") != NULL)
        check_content(file);
    return (uint64_t)status.st_size;
}

/* Prints a sample as writebench's JSON export has it. */
static inline int finish(const struct phases *phases)
{
    uint64_t probe_after_ns = probe_ns();
    uint64_t bytes = 0;
    for (unsigned i = 0; i < file_count; i++)
        bytes += check_file(&files[i]);
    uint64_t total_ns =
        phases->open_ns + phases->prepare_ns + phases->write_ns + phases->sync_ns + phases->close_ns;
    printf("{\"phases_ns\":{\"open\":%" PRIu64 ",\"prepare\":%" PRIu64 ",\"write\":%" PRIu64
           ",\"sync\":%" PRIu64 ",\"close\":%" PRIu64 "},\"total_ns\":%" PRIu64
           ",\"bytes\":%" PRIu64 ",\"probe_ns\":[%" PRIu64 ",%" PRIu64 "]}\n",
           phases->open_ns, phases->prepare_ns, phases->write_ns, phases->sync_ns, phases->close_ns,
           total_ns, bytes, probe_before_ns, probe_after_ns);
    return fflush(stdout) == 0 ? 0 : 1;
}
#endif
