// SPDX-License-Identifier: Apache-2.0
//
// Reads options by their table, and prints the table as help.
#include "plugin/headless/arguments.h"
#include "plugin/headless/session.h"
#include "plugin/host/network/spelling.h"
#include "plugin/json/number_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mn_usage_error(const mn_subcommand *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "meniscus %s: ", command->name);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'meniscus %s --help'.\n", command->name);
    return MN_EXIT_USAGE;
}

static int32_t unknown_option(const mn_arguments *a, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    mn_nearest nearest = mn_nearest_to(name);
    for (int32_t i = 0; i < a->command->option_count; i++)
        mn_nearest_try(&nearest, a->command->options[i].name);
    mn_shown shown, hint;
    mn_usage_error(a->command, "there is no option %s%s", mn_show(&shown, name),
                   mn_nearest_hint(&nearest, &hint));
    return MN_ARGUMENT_BAD;
}

/// True when `word` is this option; *value is what is written in the same word, or NULL.
static bool is_option(const mn_option *option, const char *word, const char **value)
{
    const size_t length = strlen(option->name);
    *value = NULL;
    if (strncmp(word, option->name, length) == 0 && (word[length] == 0 || word[length] == '=')) {
        if (word[length] == '=') *value = word + length + 1;
        return true;
    }
    if (!option->brief || strncmp(word, option->brief, 2) != 0) return false;
    if (word[2] != 0 && !option->value) return false;
    if (word[2] != 0) *value = word + 2;
    return true;
}

int32_t mn_arguments_next(mn_arguments *a, const char **value)
{
    *value = NULL;
    if (a->at >= a->argc) return MN_ARGUMENT_END;
    const char *word = a->argv[a->at++];
    if (!a->words_only && strcmp(word, "--") == 0) {
        a->words_only = true;
        return mn_arguments_next(a, value);
    }
    if (a->words_only || word[0] != '-' || word[1] == 0) {
        *value = word;
        return MN_ARGUMENT_WORD;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        mn_print_help(a->command);
        return MN_ARGUMENT_HELP;
    }
    for (int32_t i = 0; i < a->command->option_count; i++) {
        const mn_option *option = &a->command->options[i];
        if (!is_option(option, word, value)) continue;
        if (option->value && !*value) {
            if (a->at < a->argc) {
                *value = a->argv[a->at++];
                return i;
            }
            mn_usage_error(a->command, "%s needs a value: %s %s.", word, word, option->value);
            return MN_ARGUMENT_BAD;
        }
        if (!option->value && *value) {
            mn_usage_error(a->command, "%s takes no value.", option->name);
            return MN_ARGUMENT_BAD;
        }
        return i;
    }
    return unknown_option(a, word);
}

void mn_print_help(const mn_subcommand *command)
{
    printf("usage: meniscus %s %s\n\n%s\n", command->name, command->usage, command->summary);
    if (command->option_count > 0) printf("\n");
    for (int32_t i = 0; i < command->option_count; i++) {
        const mn_option *option = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", option->brief ? option->brief : "",
                 option->brief ? ", " : "", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        printf("  %-28s %s\n", left, option->help);
    }
    printf("  %-28s %s\n", "-h, --help", "this text");
}

bool mn_read_number(const mn_subcommand *command, const char *option, const char *text, double low,
                    double high, double *value)
{
    const bool is_number = mn_number_from_text(text, strlen(text), value);
    if (is_number && *value >= low && *value <= high) return true;
    mn_shown shown;
    mn_usage_error(command, "%s: '%s' is not a number from %g to %g.", option, mn_show(&shown, text), low,
                   high);
    return false;
}

bool mn_read_integer(const mn_subcommand *command, const char *option, const char *text, int64_t low,
                     int64_t high, int64_t *value)
{
    double number;
    if (mn_number_from_text(text, strlen(text), &number) && number == floor(number) &&
        number >= (double)low && number <= (double)high) {
        *value = (int64_t)number;
        return true;
    }
    mn_shown shown;
    mn_usage_error(command, "%s: '%s' is not a whole number from %lld to %lld.", option,
                   mn_show(&shown, text), (long long)low, (long long)high);
    return false;
}
