// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("Functions return 0, or -1 with errno.") %}
// {{ line }}
{%- endfor %}
// To compile it: cc -O2 FILE.c

#define _GNU_SOURCE
INCLUDES
{%- include "c_family/features.c" %}
{%- if case.has_flags() %}

static {% if case.is_dontcache() %}_Thread_local{% else %}const{% endif %} int write_flags = {{ case.flags_c() }};
{%- endif %}

enum { PAGE = {{ case.chunk().unwrap_or_default() }} };

// The new content of a page: PAGE bytes.
struct page {
    uint64_t number; // its place in the file, from 0
    const void *data;
};

struct page_store {
    int fd;
    int error; // the first
    uint64_t pages; // of the file
{%- if case.writes_twice() %}
    int journal;
{%- endif %}
{%- if case.copies_pages() %}
    char *buffer; // aligned memory
{%- endif %}
};
{%- include "c_family/has_failed.c" %}
{%- include "c/write_bytes.c" %}
{%- if case.writes_twice() %}

// The journal has one commit: this head, zeros until HEAD, and the pages. Numbers are in the processor's byte order.
enum { COMMIT = {{ case.commit_pages() }} };
enum { HEAD = {{ case.journal_head() }} };
struct head {
    uint64_t count; // of the pages
    uint64_t check; // of the rest of the head and the pages
    uint64_t offsets[COMMIT]; // of the pages in the file
};

// It notices a journal that a power loss has cut or mixed with the one before. It is no protection against an attacker.
static uint64_t checksum(const char *data, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, data + i, size - i < sizeof word ? size - i : sizeof word);
        sum = ((sum << 5 | sum >> 59) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return sum;
}

// Of the journal in the buffer.
static uint64_t checksum_of(const struct page_store *store, uint64_t count)
{
    const size_t from = offsetof(struct head, offsets);
    return checksum(store->buffer + from, HEAD - from + (size_t)count * PAGE);
}

// Writes the pages of the journal to their places, and syncs them.
static int write_pages(struct page_store *store)
{
    const struct head *head = (const struct head *)store->buffer;
    for (uint64_t i = 0; i < head->count; i++)
        if (write_all(store->fd, store->buffer + HEAD + i * PAGE, PAGE, (off_t)head->offsets[i]) != 0)
            return -1;
    return {{ case.sync_name() }}(store->fd);
}

// Returns the bytes, fewer only at the file's end, or -1 with errno.
static ssize_t read_at(int fd, char *data, size_t size)
{
    size_t length = 0;
    while (length < size) {
        const ssize_t got = pread(fd, data + length, size - length, (off_t)length);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        length += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)length;
}

// After a crash in a commit, its pages may be torn. They are then all in the journal, and written again. If the journal is
// not whole, no page was touched.
static int recover(struct page_store *store)
{
    // The page cache may have data whose sync has failed.
    if (fdatasync(store->journal) != 0)
        return -1;
    const ssize_t length = read_at(store->journal, store->buffer, HEAD + (size_t)COMMIT * PAGE);
    if (length < 0)
        return -1;
    const struct head *head = (const struct head *)store->buffer;
    if (length < HEAD || head->count == 0 || head->count > COMMIT)
        return 0;
    if ((uint64_t)length < HEAD + head->count * PAGE || head->check != checksum_of(store, head->count))
        return 0;
    return write_pages(store);
}

// The journal is PATH-journal. A new one is durable with its directory.
static int open_journal(struct page_store *store, const char *path)
{
    char *name = malloc(strlen(path) + sizeof "-journal");
    if (name == NULL)
        return -1;
    strcat(strcpy(name, path), "-journal");
    do
        store->journal = open(name, O_RDWR | O_CREAT{{ case.open_flags_c() }} | O_CLOEXEC, 0666);
    while (store->journal < 0 && errno == EINTR);
    const int directory = store->journal < 0 ? -1 : open(dirname(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = directory < 0 ? -1 : fsync(directory), error = errno;
    free(name);
    if (directory >= 0)
        close(directory);
    errno = error;
    return result;
}
{%- endif %}

static void release(struct page_store *store)
{
    const int error = errno;
{%- if case.copies_pages() %}
    free(store->buffer);
{%- endif %}
{%- if case.writes_twice() %}
    if (store->journal >= 0)
        close(store->journal);
{%- endif %}
    if (store->fd >= 0)
        close(store->fd);
    errno = error;
}

// Opens a file of whole pages.{% if case.writes_twice() %} After a crash, the last commit is completed first: nobody may read the file before.{% endif %}
// EINVAL: the file has another length. EWOULDBLOCK: another process has it open.
int store_open(struct page_store *store, const char *path)
{
    *store = (struct page_store){.fd = -1{% if case.writes_twice() %}, .journal = -1{% endif %}};
    do
        store->fd = open(path, O_WRONLY{{ case.open_flags_c() }} | O_CLOEXEC);
    while (store->fd < 0 && errno == EINTR);
    struct stat status;
    int result = store->fd < 0 || flock(store->fd, LOCK_EX | LOCK_NB) != 0 || fstat(store->fd, &status) != 0 ? -1 : 0;
    if (result == 0 && (!S_ISREG(status.st_mode) || status.st_size % PAGE != 0)) {
        errno = EINVAL;
        result = -1;
    }
{%- if case.copies_pages() %}
    void *buffer = NULL;
    if (result == 0 && (errno = posix_memalign(&buffer, 4096, {% if case.writes_twice() %}HEAD + (size_t)COMMIT * PAGE{% else %}PAGE{% endif %})) != 0)
        result = -1;
    store->buffer = buffer;
{%- endif %}
{%- if case.writes_twice() %}
    if (result == 0)
        result = open_journal(store, path) != 0 ? -1 : recover(store);
{%- endif %}
    if (result == 0)
        store->pages = (uint64_t)status.st_size / PAGE;
    else
        release(store);
    return result;
}
{%- if case.sorts_pages() %}

static int by_number(const void *a, const void *b)
{
    const uint64_t one = ((const struct page *)a)->number, other = ((const struct page *)b)->number;
    return (one > other) - (one < other);
}
{%- endif %}
{%- if case.writes_twice() %}

static int write_commit(struct page_store *store, {% if !case.sorts_pages() %}const {% endif %}struct page *pages, size_t count)
{
{%- if case.sorts_pages() %}
    qsort(pages, count, sizeof *pages, by_number);
{%- endif %}
    struct head *head = memset(store->buffer, 0, HEAD);
    for (size_t i = 0; i < count; i++) {
        head->offsets[i] = pages[i].number * PAGE;
        memcpy(store->buffer + HEAD + i * PAGE, pages[i].data, PAGE);
    }
    head->count = count;
    head->check = checksum_of(store, count);
    // First the whole commit into the journal. Only when that is durable, a page may be touched.
    if (write_all(store->journal, store->buffer, HEAD + count * PAGE, 0) != 0 || {{ case.sync_name() }}(store->journal) != 0)
        return -1;
    return write_pages(store);
}
{%- else %}

static int write_commit(struct page_store *store, {% if !case.sorts_pages() %}const {% endif %}struct page *pages, size_t count)
{
{%- if case.sorts_pages() %}
    qsort(pages, count, sizeof *pages, by_number);
{%- endif %}
    for (size_t i = 0; i < count; i++) {
{%- if case.copies_pages() %}
        const char *data = memcpy(store->buffer, pages[i].data, PAGE);
{%- else %}
        const char *data = pages[i].data;
{%- endif %}
        if (write_all(store->fd, data, PAGE, (off_t)(pages[i].number * PAGE)) != 0)
            return -1;
    }
    return {% if let Some(sync) = case.sync_of_commit() %}{{ sync }}(store->fd){% else %}0{% endif %};
}
{%- endif %}

// Returns when all pages of the commit are durable. A page may occur once.{% if case.sorts_pages() %} Sorts the pages by their numbers.{% endif %}
// EINVAL: a page is beyond the end of the file{% if case.writes_twice() %}, or there are more than COMMIT{% endif %}.
int store_commit(struct page_store *store, {% if !case.sorts_pages() %}const {% endif %}struct page *pages, size_t count)
{
    int is_possible = {% if case.writes_twice() %}count <= COMMIT{% else %}1{% endif %};
    for (size_t i = 0; i < count && is_possible; i++)
        is_possible = pages[i].number < store->pages;
    if (!is_possible) {
        errno = EINVAL;
        return -1;
    }
    if (count > 0 && store->error == 0 && write_commit(store, pages, count) != 0)
        store->error = errno;
    errno = store->error;
    return store->error == 0 ? 0 : -1;
}

// After an error of an earlier call, it returns that error.
int store_close(struct page_store *store)
{
    errno = store->error;
    release(store);
    return store->error == 0 ? 0 : -1;
}
{%- if case.options.is_program %}

// Overwrites the file with this content of the same length. Neighbouring pages are in different commits.
static int write_file(const char *path, const char *data, size_t size)
{
    enum { MOST = {{ case.commit_pages() }} };
    struct page_store store;
    if (store_open(&store, path) != 0)
        return -1;
    const size_t count = size / PAGE, commits = (count + MOST - 1) / MOST;
    int result = 0;
    for (size_t commit = 0; commit < commits && result == 0; commit++) {
        struct page pages[MOST];
        size_t length = 0;
        for (size_t number = commit; number < count; number += commits)
            pages[length++] = (struct page){number, data + number * PAGE};
        result = store_commit(&store, pages, length);
    }
    if (store_close(&store) != 0)
        result = -1;
    return result;
}
{% include "c/main.c" %}
{%- endif %}
