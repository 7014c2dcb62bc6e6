// SPDX-License-Identifier: Apache-2.0
#include "plugin/headless/command.h"

int main(int argc, char **argv)
{
    return mn_command_run(argc, argv);
}
