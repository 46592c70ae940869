/* Makes the target quiet and memory warm for a program that is not one of ours, and says in which state the
 * machine is: nothing is written. */
#include "parity.h"

int main(int argc, char **argv)
{
    usage(argc, 3, 3, "DIRECTORY SIZE");
    snprintf(directory, sizeof directory, "%s", argv[1]);
    settle(NULL, number(argv[2]));
    printf("{\"probe_ns\":%" PRIu64 "}\n", probe_before_ns);
    return fflush(stdout) == 0 ? 0 : 1;
}
