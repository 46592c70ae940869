/* write(2) of records, each durable before the next: by a sync call after it, or by how the file is open. */
#include "parity.h"

struct durability {
    const char *name;
    int open_flags;
    int (*sync)(int file);
};

static const struct durability DURABILITIES[] = {
    {"fsync", 0, fsync},
    {"fdatasync", 0, fdatasync},
    {"o-dsync", O_DSYNC, NULL},
    {"o-sync", O_SYNC, NULL},
};

static const struct durability *find_durability(const char *name)
{
    for (size_t i = 0; i < sizeof DURABILITIES / sizeof *DURABILITIES; i++)
        if (strcmp(DURABILITIES[i].name, name) == 0)
            return &DURABILITIES[i];
    die_of(name, EINVAL);
}

static void write_record(int file, const char *record, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, record, length);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        record += written;
        length -= (size_t)written;
    }
}

static void write_all(int file, const char *source, size_t size_bytes, size_t record_bytes, int (*sync)(int))
{
    for (size_t at = 0; at < size_bytes; at += record_bytes) {
        size_t rest = size_bytes - at;
        write_record(file, source + at, rest < record_bytes ? rest : record_bytes);
        if (sync != NULL && sync(file) != 0) /* not again: the pages may be marked clean and be lost */
            die("sync");
    }
}

int main(int argc, char **argv)
{
    usage(argc, 6, 6, "DIRECTORY SIZE RECORD fsync|fdatasync|o-dsync|o-sync create|overwrite");
    uint64_t size_bytes = number(argv[2]), record_bytes = number(argv[3]);
    const struct durability *durability = find_durability(argv[4]);
    int overwrite = strcmp(argv[5], "overwrite") == 0;
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    const char *path = new_path(source, size_bytes);
    if (overwrite)
        make_old_content(path, source, size_bytes);
    struct phases phases = {0};
    settle(source, size_bytes);

    clock_start();
    int flags = O_WRONLY | O_CLOEXEC | durability->open_flags | (overwrite ? 0 : O_CREAT | O_EXCL);
    int file = open(path, flags, 0600);
    if (file < 0)
        die("open");
    clock_lap(&phases.open_ns);
    write_all(file, source, size_bytes, record_bytes, durability->sync);
    clock_lap(&phases.write_ns);
    if (close(file) != 0)
        die("close");
    clock_lap(&phases.close_ns);
    return finish(&phases);
}
