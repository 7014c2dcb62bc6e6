// SPDX-License-Identifier: Apache-2.0
//
// Picks the subcommand.
#include "plugin/headless/command.h"

#include <stdio.h>

int mn_command_run(int argc, char **argv)
{
    (void)argc, (void)argv;
    fprintf(stderr, "usage: meniscus cook|nodes|doctor|info|convert|preview ...\n");
    return 2;
}
