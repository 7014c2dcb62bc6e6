// SPDX-License-Identifier: Apache-2.0
//
// meniscus convert IN OUT: between all formats, by the endings of the two paths.
#include "plugin/headless/command.h"
#include "plugin/headless/session.h"
#include "plugin/host/network/spelling.h"
#include "plugin/io/io.h"

enum { OPTION_ASCII, OPTION_MEMORY };
static const mn_option options[] = {
    [OPTION_ASCII] = {"--ascii", NULL, NULL, "write .ply as text"},
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
};

static int convert(mn_session *session, const char *in, const char *out, bool ascii)
{
    mn_format format;
    mn_shown shown;
    if (!mn_format_from_path(in, &format))
        return mn_usage_error(&mn_convert_command, "'%s' does not end in %s.", mn_show(&shown, in),
                              MN_FORMAT_ENDINGS);
    if (!mn_format_from_path(out, &format))
        return mn_usage_error(&mn_convert_command, "'%s' does not end in %s, nor in %s.",
                              mn_show(&shown, out), MN_FORMAT_ENDINGS, ".usda or .glb");
    if (ascii && format != MN_FORMAT_PLY)
        return mn_usage_error(&mn_convert_command, "--ascii is for .ply files only.");
    mn_geo *geo = NULL;
    mn_status status = mn_io_read(session->ctx, in, &geo);
    if (status == MN_OK)
        status = mn_io_write_as(session->ctx, out, ascii ? MN_FORMAT_PLY_ASCII : format, geo);
    mn_geo_free(geo);
    return mn_session_fail(session, status);
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_convert_command, .argc = argc, .argv = argv};
    const char *value, *words[2] = {NULL, NULL};
    int count = 0;
    bool ascii = false;
    mn_session_def def = {0};
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_convert_command);
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_ASCII) ascii = true;
        if (option == OPTION_MEMORY && !mn_read_memory(&mn_convert_command, value, &def))
            return MN_EXIT_USAGE;
        if (option == MN_ARGUMENT_WORD && count < 2) words[count] = value;
        if (option == MN_ARGUMENT_WORD) count++;
    }
    if (count != 2)
        return mn_usage_error(&mn_convert_command, "it takes two files, IN and OUT; got %d.", count);
    mn_catch_signals();
    mn_session session;
    if (!mn_session_open(&session, &mn_convert_command, &def)) return MN_EXIT_FAILED;
    const int code = convert(&session, words[0], words[1], ascii);
    mn_session_close(&session);
    return code;
}

const mn_subcommand mn_convert_command = {
    "convert", "IN OUT", "between all geometry formats", options, MN_COUNT_OF_OPTIONS(options), run};
