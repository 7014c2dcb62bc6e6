// SPDX-License-Identifier: Apache-2.0
//
// The `meniscus` command.
#include "plugin/headless/command.h"

int main(int argc, char **argv)
{
    return mn_command_run(argc, argv);
}
