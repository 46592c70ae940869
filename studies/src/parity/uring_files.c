// A set of files by io_uring: each file is a chain of openat, write and close in a slot of the ring.
//
//   uring_files SOURCE DIRECTORY FILE_BYTES DEPTH
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void check(const char *call, long result)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", call, strerror((int)-result));
        exit(1);
    }
}

static char *content_of(const char *path, size_t *size)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    check("open", fd < 0 ? -errno : fstat(fd, &status) < 0 ? -errno : 0);
    *size = (size_t)status.st_size;
    char *data = aligned_alloc(2 << 20, (*size + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1));
    for (size_t at = 0; at < *size;) {
        const ssize_t got = read(fd, data + at, *size - at);
        check("read", got < 0 ? -errno : got == 0 ? -EIO : got);
        at += (size_t)got;
    }
    close(fd);
    return data;
}

static long long now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s SOURCE DIRECTORY FILE_BYTES DEPTH\n", argv[0]);
        return 2;
    }
    const size_t file_size = strtoul(argv[3], NULL, 10);
    const unsigned depth = (unsigned)strtoul(argv[4], NULL, 10);
    size_t size;
    const char *data = content_of(argv[1], &size);
    const size_t count = (size + file_size - 1) / file_size;
    char(*names)[32] = calloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        snprintf(names[i], sizeof names[i], "writebench%07zu", i);

    struct io_uring_params params = {0};
    struct io_uring ring;
    check("io_uring_queue_init", io_uring_queue_init_params(depth * 4, &ring, &params));
    check("io_uring_register_files", io_uring_register_files_sparse(&ring, depth));

    const long long start = now_ns();
    const int dir = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check("open", dir < 0 ? -errno : 0);
    size_t next = 0, done = 0;
    unsigned slots = 0, free_slot = 0;
    while (done < count) {
        while (next < count && (slots < depth || free_slot)) {
            const unsigned slot = free_slot ? free_slot - 1 : slots++;
            free_slot = 0;
            const size_t at = next * file_size;
            const size_t length = size - at < file_size ? size - at : file_size;
            struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
            io_uring_prep_openat_direct(sqe, dir, names[next], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666, slot);
            sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
            sqe = io_uring_get_sqe(&ring);
            io_uring_prep_write(sqe, (int)slot, data + at, (unsigned)length, 0);
            sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS | IOSQE_FIXED_FILE;
            sqe = io_uring_get_sqe(&ring);
            io_uring_prep_close_direct(sqe, slot);
            io_uring_sqe_set_data64(sqe, slot);
            next++;
        }
        struct io_uring_cqe *cqe;
        if (io_uring_peek_cqe(&ring, &cqe) != 0) {
            check("io_uring_submit_and_wait", io_uring_submit_and_wait(&ring, 1));
            check("io_uring_wait_cqe", io_uring_wait_cqe(&ring, &cqe));
        }
        check("a file", cqe->res);
        free_slot = (unsigned)io_uring_cqe_get_data64(cqe) + 1;
        io_uring_cqe_seen(&ring, cqe);
        done++;
    }
    close(dir);
    const long long elapsed = now_ns() - start;
    const char *phases = getenv("WRITEBENCH_PHASES_FD");
    if (phases != NULL)
        dprintf(atoi(phases), "write %lld\n", elapsed);
    return 0;
}
