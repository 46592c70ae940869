/* The program's files, in a directory of its own, which goes with them. */
#ifndef PARITY_FILES_H
#define PARITY_FILES_H

enum { FILES_MAX = 64 };

/* A file that the program makes, and the part of the source that it should hold; `source` is NULL
 * for a file that is only allocated. */
struct file {
    char path[4200];
    const char *source;
    uint64_t size_bytes;
};

static char directory[4096];
static struct file files[FILES_MAX];
static unsigned file_count;
static char copied_path[4200]; /* what a copying program reads; empty where nothing is copied */

static inline void clean(void)
{
    if (copied_path[0] != '\0')
        unlink(copied_path);
    for (unsigned i = 0; i < file_count; i++)
        unlink(files[i].path);
    rmdir(directory);
}

/* Ctrl-C, or SIGBUS where the disk is full under a mapping. Calls of signal-safety(7) only. */
static inline void clean_and_exit(int signal_number)
{
    clean();
    _exit(128 + signal_number);
}

static inline void make_directory(const char *target)
{
    snprintf(directory, sizeof directory, "%s/parity-XXXXXX", target);
    if (mkdtemp(directory) == NULL)
        die("mkdtemp");
    atexit(clean);
    signal(SIGBUS, clean_and_exit);
    signal(SIGINT, clean_and_exit);
    signal(SIGTERM, clean_and_exit);
}

static inline const char *new_path(const char *source, uint64_t size_bytes)
{
    struct file *file = &files[file_count];
    snprintf(file->path, sizeof file->path, "%s/%u", directory, file_count++);
    file->source = source;
    file->size_bytes = size_bytes;
    return file->path;
}
#endif
