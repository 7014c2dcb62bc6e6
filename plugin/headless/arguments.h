// SPDX-License-Identifier: Apache-2.0
//
// The words of a command line, one after the other, by a table of options from which --help is made too.
#ifndef MENISCUS_PLUGIN_HEADLESS_ARGUMENTS_H
#define MENISCUS_PLUGIN_HEADLESS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mn_option {
    const char *name;  ///< "--format"
    const char *brief; ///< "-f", or NULL
    const char *value; ///< what stands for its value in the help, "DIR"; NULL for a switch
    const char *help;
} mn_option;

#define MN_COUNT_OF_OPTIONS(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

typedef struct mn_subcommand {
    const char *name;    ///< "cook"
    const char *usage;   ///< "SCENE [options]"
    const char *summary; ///< one line
    const mn_option *options;
    int32_t option_count;
    int (*run)(int argc, char **argv); ///< gets the words after its name; returns the exit code
} mn_subcommand;

typedef struct mn_arguments {
    const mn_subcommand *command;
    int argc;
    char **argv;
    int at;
    bool words_only; ///< after "--"
} mn_arguments;

enum {
    MN_ARGUMENT_END = -1,
    MN_ARGUMENT_WORD = -2,
    MN_ARGUMENT_HELP = -3, ///< the help has been printed
    MN_ARGUMENT_BAD = -4,  ///< the sentence has been printed
};

/// The place of the next option in the table with its *value ("--x v", "--x=v", "-x v", "-xv"), or one of
/// the above; a plain word is in *value.
int32_t mn_arguments_next(mn_arguments *arguments, const char **value);

/// "meniscus cook: ..." on stderr and where to find help. Returns MN_EXIT_USAGE.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int mn_usage_error(const mn_subcommand *command, const char *format, ...);

void mn_print_help(const mn_subcommand *command);

/// A whole number in [low, high] that fills the text; otherwise prints a sentence about the option.
bool mn_read_integer(const mn_subcommand *command, const char *option, const char *text, int64_t low,
                     int64_t high, int64_t *value);
/// The same for any finite number.
bool mn_read_number(const mn_subcommand *command, const char *option, const char *text, double low,
                    double high, double *value);

#endif
