// SPDX-License-Identifier: Apache-2.0
//
// Picks the subcommand.
#include "plugin/headless/command.h"
#include "meniscus/context.h"
#include "plugin/headless/session.h"
#include "plugin/host/network/spelling.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const mn_subcommand *const subcommands[] = {
    &mn_cook_command,    &mn_nodes_command, &mn_doctor_command, &mn_info_command,  &mn_convert_command,
    &mn_preview_command, &mn_wedge_command, &mn_report_command, &mn_watch_command,
};
enum { SUBCOMMAND_COUNT = (int)(sizeof subcommands / sizeof *subcommands) };

static void print_overview(FILE *file)
{
    fprintf(file, "Meniscus %s: surface-tension solvers on the command line.\n\n", MN_VERSION);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        fprintf(file, "  meniscus %-8s %-28s %s\n", subcommands[i]->name, subcommands[i]->usage,
                subcommands[i]->summary);
    fprintf(file,
            "\n'meniscus help COMMAND' says more. Exit codes: 0 done, 1 failed, 2 wrong usage or scene, "
            "130 cancelled.\n");
}

int mn_command_run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return MN_EXIT_USAGE;
    }
    const char *word = argv[1];
    const bool help = strcmp(word, "help") == 0;
    if (help && argc > 2) { // help cook is cook --help
        static char option[] = "--help";
        char *words[] = {argv[0], argv[2], option};
        return mn_command_run(3, words);
    }
    if (help || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_overview(stdout);
        return mn_finish_output(&mn_cook_command);
    }
    if (strcmp(word, "--version") == 0) {
        printf("meniscus %s\n", MN_VERSION);
        return mn_finish_output(&mn_cook_command);
    }
    mn_nearest nearest = mn_nearest_to(word);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(word, subcommands[i]->name) == 0) return subcommands[i]->run(argc - 2, argv + 2);
        mn_nearest_try(&nearest, subcommands[i]->name);
    }
    mn_shown shown, hint;
    fprintf(stderr, "meniscus: there is no command '%s'%s\nTry 'meniscus --help'.\n", mn_show(&shown, word),
            mn_nearest_hint(&nearest, &hint));
    return MN_EXIT_USAGE;
}
