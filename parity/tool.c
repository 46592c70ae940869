/* Copies a file by a tool that is not one of ours, which finds the files `copied` and `0` where it is started. Its time is
 * wall time, with the start of the process. */
#include "parity.h"

#include <spawn.h>
#include <sys/wait.h>

static void must(const char *call, int error)
{
    if (error != 0)
        die_of(call, error);
}

/* From before it is started until it has ended. */
static void run(char **words, uint64_t *elapsed_ns)
{
    posix_spawn_file_actions_t silent;
    pid_t tool;
    int status;
    must("posix_spawn_file_actions_init", posix_spawn_file_actions_init(&silent));
    must("chdir", posix_spawn_file_actions_addchdir_np(&silent, directory));
    must("stdout", posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0));
    must("stderr", posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0));

    clock_start();
    must(words[0], posix_spawnp(&tool, words[0], &silent, NULL, words, environ));
    if (waitpid(tool, &status, 0) < 0)
        die("waitpid");
    clock_lap(elapsed_ns);
    if (status != 0) {
        fprintf(stderr, "%s ended with wait status %d\n", words[0], status);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    usage(argc, 4, 16, "DIRECTORY SIZE TOOL...");
    uint64_t size_bytes = number(argv[2]);
    make_directory(argv[1]);
    const char *source = make_source(size_bytes);
    make_copied(source, size_bytes);
    new_path(source, size_bytes);
    struct phases phases = {0};
    settle_copying(size_bytes);
    run(&argv[3], &phases.write_ns);
    return finish(&phases);
}
