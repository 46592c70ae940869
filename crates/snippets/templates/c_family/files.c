

static int failed(struct failure *failure, const char *call, const char *name)
{
    failure->call = call;
    failure->name = name;
    failure->error = errno;
    return -1;
}

static int open_at(int dir, const char *name, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(dir, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}
{%- include "c_family/keep_mode.c" %}
{%- include "c_family/has_failed.c" %}
{%- if case.has_other_name() %}

// The name of a file until it is complete. The kernel refuses one that is too long.
struct other_name {
    char text[NAME_MAX + 64];
};

static struct other_name other_name_of(const char *name, const char *suffix)
{
    struct other_name other;
    snprintf(other.text, sizeof other.text, "%s%s", name, suffix);
    return other;
}

static int give_name(int dir, const char *other, const char *name, struct failure *failure)
{
{%- if case.exchanges() %}
    // The old file gets the other name, and is removed.
    if (renameat2(dir, other, dir, name, RENAME_EXCHANGE) == 0)
        return unlinkat(dir, other, 0) == 0 ? 0 : failed(failure, "unlink", name);
    // EINVAL: the filesystem cannot exchange names. ENOENT: there is no old file.
    if (errno != EINVAL && errno != ENOENT)
        return failed(failure, "renameat2", name);
{%- endif %}
    return renameat(dir, other, dir, name) == 0 ? 0 : failed(failure, "rename", name);
}
{%- endif %}

static int write_one(int dir, const struct file_data *file{{ case.other("const char *suffix") }}, struct failure *failure)
{
{%- if case.has_other_name() %}
    const struct other_name other = other_name_of(file->name, suffix);
{%- endif %}
{%- if case.options.is_atomic %}
    struct stat old;
    const int replaces = fstatat(dir, file->name, &old, 0) == 0;
{%- endif %}
    const int fd = open_at(dir, {% if case.is_tmpfile() %}"."{% else %}{{ case.written("other.text", "file->name") }}{% endif %}, {{ case.set_flags("") }}, {% if case.options.is_atomic %}replaces ? old.st_mode & 0777 : 0666{% else %}0666{% endif %});
    if (fd < 0)
        return failed(failure, "open", file->name);
    int result = 0;
{%- if case.options.is_atomic %}
    if (replaces && keep_mode(fd, &old) != 0)
        result = failed(failure, "fchmod", file->name);
{%- endif %}
    for (size_t at = 0; at < file->size && result == 0;) {
        const size_t length = file->size - at < CHUNK ? file->size - at : CHUNK;
        const ssize_t written = write(fd, file->data + at, length);
        if (has_failed(written))
            result = failed(failure, "write", file->name);
        at += written > 0 ? (size_t)written : 0;
    }
{%- if case.syncs_each() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (result == 0 && fsync(fd) != 0)
        result = failed(failure, "fsync", file->name);
{%- endif %}
{%- if case.starts_write_back() %}
    if (result == 0 && sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) != 0)
        result = failed(failure, "sync_file_range", file->name);
{%- endif %}
{%- if case.is_tmpfile() %}
    char link[32]; // this path needs no capability
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (result == 0 && linkat(AT_FDCWD, link, dir, {{ case.written("other.text", "file->name") }}, AT_SYMLINK_FOLLOW) != 0)
        result = failed(failure, "linkat", file->name);
{%- endif %}
    if (close(fd) != 0 && errno != EINTR && result == 0)
        result = failed(failure, "close", file->name); // a late error of the filesystem, such as NFS
{%- if case.has_other_name() && !case.syncs_afterwards() %}
    if (result == 0)
        result = give_name(dir, other.text, file->name, failure);
{%- endif %}
{%- if case.removes_one() %}
    if (result != 0)
        unlinkat(dir, {{ case.written("other.text", "file->name") }}, 0);
{%- endif %}
    return result;
}
{%- if case.syncs_batch() %}

static int sync_one(int dir, const struct file_data *file{{ case.other("const char *suffix") }}, struct failure *failure)
{
    const int fd = open_at(dir, {% if case.has_other_name() %}other_name_of(file->name, suffix).text{% else %}file->name{% endif %}, O_RDONLY, 0);
    if (fd < 0)
        return failed(failure, "open", file->name);
    // After an error, the data may be lost although a second call succeeds: write it again.
    int result = fsync(fd) == 0 ? 0 : failed(failure, "fsync", file->name);
    if (close(fd) != 0 && errno != EINTR && result == 0)
        result = failed(failure, "close", file->name);
    return result;
}
{%- endif %}

static int write_part(int dir, const struct file_data *files, size_t count{{ case.other("const char *suffix") }}, struct failure *failure)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = write_one(dir, &files[i]{{ case.other("suffix") }}, failure);
{%- if case.syncs_batch() %}
    for (size_t i = 0; i < count && result == 0; i++)
        result = sync_one(dir, &files[i]{{ case.other("suffix") }}, failure);
{%- endif %}
    return result;
}
{%- if case.threads() > 1 %}

struct part {
    int dir;
    const struct file_data *files;
    size_t count;
{%- if case.has_other_name() %}
    const char *suffix;
{%- endif %}
    int result;
    struct failure failure;
};

static void *run_part(void *argument)
{
    struct part *part = (struct part *)argument;
    part->result = write_part(part->dir, part->files, part->count{{ case.other("part->suffix") }}, &part->failure);
    return NULL;
}

static int in_parts(int dir, const struct file_data *files, size_t count{{ case.other("const char *suffix") }}, struct failure *failure)
{
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    size_t started = 1;
    int error = 0;
    for (size_t i = 0; i < THREADS; i++) {
        const size_t from = count * i / THREADS, until = count * (i + 1) / THREADS;
        parts[i].dir = dir;
        parts[i].files = files + from;
        parts[i].count = until - from;
{%- if case.has_other_name() %}
        parts[i].suffix = suffix;
{%- endif %}
    }
    for (; started < THREADS && error == 0; started += error == 0)
        error = pthread_create(&threads[started], NULL, run_part, &parts[started]);
    run_part(&parts[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < started; i++)
        if (parts[i].result != 0) {
            *failure = parts[i].failure;
            return -1;
        }
    errno = error;
    return error == 0 ? 0 : failed(failure, "pthread_create", "thread");
}
{%- endif %}

{{ writes_set }}(const char *path, const struct file_data *files, size_t count, struct failure *failure)
{
    const int dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return failed(failure, "open", path);
{%- if case.has_other_name() %}
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char suffix[64];
    snprintf(suffix, sizeof suffix, ".%d.%lld.tmp", getpid(), now.tv_sec * 1000000000LL + now.tv_nsec);
{%- endif %}
    int result = {% if case.threads() > 1 %}in_parts{% else %}write_part{% endif %}(dir, files, count{{ case.other("suffix") }}, failure);
{%- if case.syncs_filesystem() %}
    if (result == 0 && syncfs(dir) != 0)
        result = failed(failure, "syncfs", path);
{%- endif %}
{%- if case.has_other_name() && case.syncs_afterwards() %}
    // No file gets its name before its data is durable.
    for (size_t i = 0; i < count && result == 0; i++)
        result = give_name(dir, other_name_of(files[i].name, suffix).text, files[i].name, failure);
    for (size_t i = 0; i < count && result != 0; i++)
        unlinkat(dir, other_name_of(files[i].name, suffix).text, 0);
{%- endif %}
{%- if case.is_durable() %}
    // Names are durable with their directory.
    if (result == 0 && fsync(dir) != 0) {
        const int is_unable = errno == EINVAL || errno == EBADF;
        failed(failure, is_unable ? "fsync: the directory cannot be synced here" : "fsync of the directory", path);
        result = -2;
    }
{%- endif %}
    close(dir);
    return result;
}
