// SPDX-License-Identifier: Apache-2.0
//
// meniscus nodes [NAME]: what node types there are, and everything in their tables.
#include "plugin/headless/command.h"
#include "plugin/headless/session.h"
#include "plugin/host/network/network.h"
#include "plugin/json/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_JSON };
static const mn_option options[] = {
    [OPTION_JSON] = {"--json", NULL, NULL, "everything in the tables as JSON"},
};

static void print_numbers(const double *numbers, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        char text[MN_NUMBER_TEXT];
        mn_number_to_text(numbers[i], text);
        printf("%s%s", i > 0 ? " " : "", text);
    }
}

static void print_range(const mn_parm_def *parm)
{
    const bool low = isfinite(parm->hard_min), high = isfinite(parm->hard_max);
    if (low && high)
        printf(", %g to %g", parm->hard_min, parm->hard_max);
    else if (low)
        printf(", at least %g", parm->hard_min);
    else if (high)
        printf(", at most %g", parm->hard_max);
}

static void print_parm(const mn_parm_def *parm)
{
    static const char *const kinds[] = {"float", "int", "toggle", "menu", "string", "file"};
    printf("    %s", parm->name);
    if (parm->size > 1) printf("[%d]", (int)parm->size);
    printf("  %s", kinds[parm->kind]);
    if (parm->unit && *parm->unit) printf(", %s", parm->unit);
    if (parm->kind == MN_PARM_FLOAT || parm->kind == MN_PARM_INT) print_range(parm);
    printf(", default ");
    if (parm->kind == MN_PARM_STRING || parm->kind == MN_PARM_FILE)
        printf("\"%s\"", parm->default_string ? parm->default_string : "");
    else if (parm->kind == MN_PARM_TOGGLE)
        printf("%s", parm->defaults[0] != 0 ? "true" : "false");
    else if (parm->kind == MN_PARM_MENU)
        printf("%s", parm->items[(int)parm->defaults[0]].token);
    else
        print_numbers(parm->defaults, parm->size);
    if (parm->kind == MN_PARM_MENU) {
        printf("; one of");
        for (const mn_menu_item *item = parm->items; item->token; item++) printf(" %s", item->token);
    }
    printf("\n        %s\n", parm->tooltip ? parm->tooltip : "");
}

static void print_type(const mn_node_type *type)
{
    printf("%s: %s (%s)\n  %s\n", type->name, type->label, type->menu, type->help);
    if (type->input_count > 0) printf("\n  inputs\n");
    for (int32_t i = 0; i < type->input_count; i++)
        printf("    %d  %s: %s%s%s\n", (int)i + 1, type->inputs[i].label, type->inputs[i].expects,
               type->inputs[i].required ? "" : " (optional)",
               type->inputs[i].many ? "; takes any number of connections" : "");
    printf("\n  outputs\n");
    for (int32_t i = 0; i < type->output_count; i++)
        printf("    %d  %s: %s\n", (int)i + 1, type->outputs[i].label, type->outputs[i].gives);
    const char *folder = "";
    for (int32_t i = 0; i < type->parm_count; i++) {
        const char *own = type->parms[i].folder ? type->parms[i].folder : "Parameters";
        if (i == 0 || strcmp(folder, own) != 0) printf("\n  %s\n", own);
        folder = own;
        print_parm(&type->parms[i]);
    }
}

static void print_overview(void)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    const char *menu = "";
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(menu, types[i]->menu) != 0) printf("%s%s\n", i > 0 ? "\n" : "", types[i]->menu);
        menu = types[i]->menu;
        printf("  %-20s %s\n", types[i]->name, types[i]->help);
    }
}

static mn_status print_json(mn_context *ctx, const char *only)
{
    char *text;
    MN_TRY(mn_node_types_json(ctx, only, &text));
    fputs(text, stdout);
    mn_scene_free_text(ctx, text);
    return MN_OK;
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_nodes_command, .argc = argc, .argv = argv};
    const char *value, *name = NULL;
    bool json = false;
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_nodes_command);
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_JSON) json = true;
        if (option != MN_ARGUMENT_WORD) continue;
        if (name)
            return mn_usage_error(&mn_nodes_command, "it takes one node type; got '%s' and '%s'.", name,
                                  value);
        name = value;
    }
    mn_session session;
    if (!mn_session_open(&session, &mn_nodes_command, &(mn_session_def){0})) return MN_EXIT_FAILED;
    const mn_node_type *type = NULL;
    mn_status status = name ? mn_node_type_require(session.ctx, name, &type) : MN_OK;
    if (status == MN_OK && json)
        status = print_json(session.ctx, name);
    else if (type)
        print_type(type);
    else if (status == MN_OK)
        print_overview();
    int code = mn_session_fail(&session, status);
    if (status == MN_ERROR_NOT_FOUND) code = MN_EXIT_USAGE;
    mn_session_close(&session);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_nodes_command) : code;
}

const mn_subcommand mn_nodes_command = {"nodes",
                                        "[NAME] [--json]",
                                        "what node types there are, and their parameters",
                                        options,
                                        MN_COUNT_OF_OPTIONS(options),
                                        run};
