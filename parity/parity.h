/* What every reference program shares: arguments, the clock, and the headers below. One translation unit
 * per program, so everything here is static. */
#ifndef PARITY_H
#define PARITY_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct phases {
    uint64_t open_ns, prepare_ns, write_ns, sync_ns, close_ns;
};

static uint64_t phase_began_ns;
static uint64_t probe_before_ns;

static inline _Noreturn void die_of(const char *call, int error)
{
    fprintf(stderr, "%s: %s (%d)\n", call, strerror(error), error);
    exit(1); /* and so clean() of files.h, by atexit */
}

static inline _Noreturn void die(const char *call)
{
    die_of(call, errno);
}

/* The filesystem or the kernel does not do what the program shows: its exit code says so, as automake's do. */
static inline _Noreturn void refuse(const char *call)
{
    fprintf(stderr, "%s: %s (%d)\n", call, strerror(errno), errno);
    exit(77);
}

static inline void usage(int argc, int least, int most, const char *arguments)
{
    if (argc < least || argc > most) {
        fprintf(stderr, "expected %s\n", arguments);
        exit(2);
    }
}

static inline uint64_t number(const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value == 0)
        die_of(text, EINVAL);
    return value;
}

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void clock_start(void)
{
    phase_began_ns = now_ns();
}

/* Ends a phase: the time since the last border is its own. */
static inline void clock_lap(uint64_t *phase_ns)
{
    uint64_t now = now_ns();
    *phase_ns += now - phase_began_ns;
    phase_began_ns = now;
}

#include "files.h"
#include "memory.h"
#include "content.h"
#include "finish.h"
#endif
