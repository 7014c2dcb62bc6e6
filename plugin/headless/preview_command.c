// SPDX-License-Identifier: Apache-2.0
//
// meniscus preview FILE... -o PNG: the command line of the renderer.
#include "plugin/headless/command.h"
#include "plugin/headless/preview_sequence.h"
#include "plugin/host/spelling.h"

#include <stdio.h>
#include <string.h>

enum {
    OPTION_OUTPUT,
    OPTION_SIZE,
    OPTION_AZIMUTH,
    OPTION_ELEVATION,
    OPTION_ZOOM,
    OPTION_COLOR,
    OPTION_SAMPLES,
    OPTION_COLUMNS,
    OPTION_NO_GROUND,
    OPTION_TRANSPARENT,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_SCHEDULER,
};
static const mn_option options[] = {
    [OPTION_OUTPUT] = {"--output", "-o", "PNG", "the picture; with $F4 in its name, one for each frame"},
    [OPTION_SIZE] = {"--size", NULL, "WxH", "pixels, default 960x540; tiles of a sheet are half of it"},
    [OPTION_AZIMUTH] = {"--azimuth", NULL, "DEGREES", "where the camera stands, right of +z, default 30"},
    [OPTION_ELEVATION] = {"--elevation", NULL, "DEGREES", "and above the scene, -89 to 89, default 18"},
    [OPTION_ZOOM] = {"--zoom", NULL, "FACTOR", "2 is twice as close, default 1"},
    [OPTION_COLOR] = {"--color", NULL, "NAME", "a ramp over this attribute, or none; default Cd or speed"},
    [OPTION_SAMPLES] = {"--samples", NULL, "N", "N x N samples per pixel, 1 to 8, default 3"},
    [OPTION_COLUMNS] = {"--columns", NULL, "N", "of a sheet of frames"},
    [OPTION_NO_GROUND] = {"--no-ground", NULL, NULL, "nothing to stand on"},
    [OPTION_TRANSPARENT] = {"--transparent", NULL, NULL, "no background: coverage and shadow as alpha"},
    [OPTION_THREADS] = MN_OPTION_THREADS,
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
    [OPTION_SCHEDULER] = MN_OPTION_SCHEDULER,
};

static bool read_size(const char *text, mn_preview_def *def)
{
    int width, height, used = 0;
    if (sscanf(text, "%5dx%5d%n", &width, &height, &used) == 2 && text[used] == 0 && width >= 16 &&
        height >= 16 && width <= 8192 && height <= 8192) {
        def->width = width, def->height = height;
        return true;
    }
    mn_shown shown;
    mn_usage_error(&mn_preview_command, "--size: '%s' is not WIDTHxHEIGHT, 16 to 8192 pixels each.",
                   mn_show(&shown, text));
    return false;
}

static bool read_option(int32_t option, const char *value, mn_preview_sequence *s, mn_session_def *session)
{
    const mn_subcommand *self = &mn_preview_command;
    mn_preview_def *def = &s->def;
    int64_t whole;
    switch (option) {
    case OPTION_SIZE:
        return read_size(value, def);
    case OPTION_AZIMUTH:
        return mn_read_number(self, "--azimuth", value, -3600, 3600, &def->azimuth);
    case OPTION_ELEVATION:
        return mn_read_number(self, "--elevation", value, -89, 89, &def->elevation);
    case OPTION_ZOOM:
        return mn_read_number(self, "--zoom", value, 0.01, 100, &def->zoom);
    case OPTION_COLOR:
        def->color = strcmp(value, "none") == 0 ? "" : value;
        return true;
    case OPTION_SAMPLES:
        if (!mn_read_integer(self, "--samples", value, 1, 8, &whole)) return false;
        def->samples = (int32_t)whole;
        return true;
    case OPTION_COLUMNS:
        if (!mn_read_integer(self, "--columns", value, 1, MN_PREVIEW_SHEET_MAX, &whole)) return false;
        s->columns = (int32_t)whole;
        return true;
    case OPTION_NO_GROUND:
        def->ground = false;
        return true;
    case OPTION_TRANSPARENT:
        def->transparent = true;
        return true;
    case OPTION_THREADS:
        return mn_read_threads(self, value, session);
    case OPTION_MEMORY:
        return mn_read_memory(self, value, session);
    case OPTION_SCHEDULER:
        return mn_read_scheduler(self, value, session);
    default:
        return true;
    }
}

static mn_status draw(mn_preview_sequence *s, mn_arguments *arguments, const char *output)
{
    const char *value;
    arguments->at = 0, arguments->words_only = false;
    for (int32_t option; (option = mn_arguments_next(arguments, &value)) != MN_ARGUMENT_END;) {
        if (option != MN_ARGUMENT_WORD) continue;
        int64_t frame = 0;
        const bool numbered = mn_frame_of_path(value, &frame);
        MN_TRY(mn_preview_sequence_add(s, value, numbered, frame));
    }
    int64_t count;
    MN_TRY(mn_preview_sequence_count(s, &count));
    mn_progress_bar_begin(&s->session->bar, count == 1, (double)count);
    const bool one_each = strstr(output, "$F") != NULL;
    return mn_preview_sequence_draw(s, one_each || count == 1 ? output : NULL,
                                    one_each || count == 1 ? NULL : output);
}

static bool ends_in_png(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && (strcmp(path + length - 4, ".png") == 0 || strcmp(path + length - 4, ".PNG") == 0);
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_preview_command, .argc = argc, .argv = argv};
    mn_preview_sequence sequence = {.def = mn_preview_default_def()};
    mn_session_def def = {0};
    const char *value, *output = NULL;
    int files = 0;
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_preview_command);
        if (option == MN_ARGUMENT_BAD || !read_option(option, value, &sequence, &def)) return MN_EXIT_USAGE;
        if (option == OPTION_OUTPUT) output = value;
        files += option == MN_ARGUMENT_WORD;
    }
    if (files == 0) return mn_usage_error(&mn_preview_command, "which files?");
    if (!output) return mn_usage_error(&mn_preview_command, "say where the picture goes with -o PNG.");
    mn_shown shown;
    if (!ends_in_png(output))
        return mn_usage_error(&mn_preview_command, "'%s' does not end in .png.", mn_show(&shown, output));
    mn_catch_signals();
    mn_session session;
    if (!mn_session_open(&session, &mn_preview_command, &def)) return MN_EXIT_FAILED;
    sequence.session = &session;
    const int code = mn_session_fail(&session, draw(&sequence, &arguments, output));
    mn_preview_sequence_free(&sequence);
    mn_session_close(&session);
    return code;
}

const mn_subcommand mn_preview_command = {
    "preview", "FILE... -o PNG", "a shaded picture without any host", options, MN_COUNT_OF_OPTIONS(options),
    run};
