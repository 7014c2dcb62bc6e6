// SPDX-License-Identifier: Apache-2.0
//
// The `meniscus` command as a function.
#ifndef MENISCUS_PLUGIN_HEADLESS_COMMAND_H
#define MENISCUS_PLUGIN_HEADLESS_COMMAND_H

/// Runs the command line and returns the exit code: 0 done, 1 failed, 2 wrong usage or scene, 130 cancelled.
int mn_command_run(int argc, char **argv);

#endif
