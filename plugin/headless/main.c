// SPDX-License-Identifier: Apache-2.0
//
// Starts the command with OpenMP told to let idle workers sleep. By default they spin for milliseconds, which
// on a machine that others use too makes short parallel loops a hundred times slower; and the runtime reads
// its settings before main(), so they are set and the program started over, once.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/command.h"

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY") && setenv("GOMP_SPINCOUNT", "2000", 1) == 0)
        execv("/proc/self/exe", argv); // where that fails, go on as we are
    return mn_command_run(argc, argv);
}
