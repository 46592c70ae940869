/* Files that are there before the clock starts: the one that is copied, and old content. */
#ifndef PARITY_CONTENT_H
#define PARITY_CONTENT_H

enum { BLOCK_BYTES = 1 << 20 };

static inline void fill_new_file(const char *path, const char *source, uint64_t size_bytes, char flipped)
{
    static char block[BLOCK_BYTES];
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        die("open of a file to be there before");
    for (uint64_t at = 0; at < size_bytes;) {
        uint64_t rest = size_bytes - at;
        size_t length = rest < BLOCK_BYTES ? rest : BLOCK_BYTES;
        for (size_t i = 0; i < length; i++)
            block[i] = source[at + i] ^ flipped;
        ssize_t written = write(file, block, length);
        if (written < 0)
            die("write of a file to be there before");
        at += (uint64_t)written;
    }
    if (fsync(file) != 0 || close(file) != 0)
        die("fsync of a file to be there before");
}

/* What an earlier program left: every byte another than ours, synced. */
static inline void make_old_content(const char *path, const char *source, uint64_t size_bytes)
{
    fill_new_file(path, source, size_bytes, (char)0xff);
}

/* The file that is copied, synced. */
static inline const char *make_copied(const char *source, uint64_t size_bytes)
{
    snprintf(copied_path, sizeof copied_path, "%s/copied", directory);
    fill_new_file(copied_path, source, size_bytes, 0);
    return copied_path;
}

/* As settle(), and then the file that is copied is read once: the last that happens to it. */
static inline void settle_copying(uint64_t size_bytes)
{
    static char block[BLOCK_BYTES];
    settle(NULL, size_bytes);
    int file = open(copied_path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        die("open to read once");
    ssize_t got;
    do {
        got = read(file, block, BLOCK_BYTES);
    } while (got > 0);
    if (got < 0 || close(file) != 0)
        die("read once");
}
#endif
