#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat status;
    int source = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (source < 0 || fstat(source, &status) != 0)
        return 2;
    size_t size = (size_t)status.st_size;
    char *data = malloc(size + 1);
    for (size_t at = 0; data != NULL && at < size;) {
        ssize_t got = read(source, data + at, size - at);
        if (got <= 0)
            return 2;
        at += (size_t)got;
    }
    close(source);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (data == NULL || write_file(argv[2], data, size) != 0) {
        perror(argv[2]);
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    const char *phases = getenv("WRITEBENCH_PHASES_FD");
    long long elapsed_ns = (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
    if (phases != NULL)
        dprintf(atoi(phases), "write %lld\n", elapsed_ns);
    free(data);
    return 0;
}
