// SPDX-License-Identifier: Apache-2.0
//
// The `meniscus` command as a function, and its subcommands, one file each.
#ifndef MENISCUS_PLUGIN_HEADLESS_COMMAND_H
#define MENISCUS_PLUGIN_HEADLESS_COMMAND_H

#include "plugin/headless/arguments.h"

/// Runs the command line and returns the exit code: 0 done, 1 failed, 2 wrong usage or scene, 130 cancelled.
int mn_command_run(int argc, char **argv);

extern const mn_subcommand mn_cook_command, mn_nodes_command, mn_doctor_command, mn_info_command,
    mn_convert_command, mn_preview_command, mn_wedge_command, mn_report_command, mn_watch_command;

#endif
