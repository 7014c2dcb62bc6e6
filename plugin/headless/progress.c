// SPDX-License-Identifier: Apache-2.0
//
// The bar: at most ten times a second, as wide as the terminal allows.
#define _DEFAULT_SOURCE
#include "plugin/headless/progress.h"
#include "meniscus/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void mn_format_duration(double seconds, char text[32])
{
    if (!(seconds >= 0)) seconds = 0;
    if (seconds > 8640000) seconds = 8640000; // a hundred days
    const long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
}

void mn_format_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 5) bytes /= 1000, unit++;
    if (unit == 0)
        snprintf(text, 32, "%.0f %s", bytes, units[unit]);
    else
        snprintf(text, 32, "%.3g %s", bytes, units[unit]);
}

void mn_progress_bar_begin(mn_progress_bar *bar, bool quiet, double total)
{
    memset(bar, 0, sizeof *bar);
    bar->shown = !quiet;
    bar->terminal = isatty(STDERR_FILENO) != 0;
    bar->begun = bar->step_begun = mn_seconds();
    bar->total = total > 0 ? total : 1;
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
    return 80;
}

static void draw(mn_progress_bar *bar, double part)
{
    const double now = mn_seconds();
    if (!bar->shown || !bar->terminal || (bar->drawn && now - bar->last_drawn < 0.1)) return;
    bar->last_drawn = now;
    bar->drawn = true;
    double fraction = (bar->done + part) / bar->total;
    if (!(fraction >= 0)) fraction = 0;
    if (fraction > 1) fraction = 1;
    char left[32] = "--:--", tail[64];
    if (fraction > 0.001) mn_format_duration((now - bar->begun) * (1 - fraction) / fraction, left);
    snprintf(tail, sizeof tail, " %3.0f%%  %s left  ", 100 * fraction, left);
    const int width = terminal_width() - 1, bar_width = width / 3;
    char dots[256] = {0};
    for (int i = 0; i < bar_width && i < 255; i++) dots[i] = i < fraction * bar_width ? '#' : '.';
    const int room = width - bar_width - 2 - (int)strlen(tail);
    fprintf(stderr, "\r\033[K[%s]%s%.*s", dots, tail, room > 0 ? room : 0, bar->what);
    fflush(stderr);
}

/// Without a terminal: a line when a frame has taken long, and then at ever longer intervals.
static void print_line(mn_progress_bar *bar, double part)
{
    const double now = mn_seconds(), first_wait = 10, longest_wait = 300;
    if (!bar->shown || bar->terminal) return;
    if (bar->wait == 0) bar->wait = first_wait, bar->last_line = now;
    if (now - bar->last_line < bar->wait) return;
    char spent[32], left[32] = "--:--";
    const double begun = bar->whole ? bar->begun : bar->step_begun;
    if (bar->whole) part = (bar->done + part) / bar->total;
    mn_format_duration(now - begun, spent);
    if (part > 1e-4) mn_format_duration((now - begun) * (1 - part) / part, left);
    fprintf(stderr, "%s: %.3g %% done after %s, about %s left\n", *bar->what ? bar->what : "working",
            100 * part, spent, left);
    fflush(stderr);
    bar->last_line = now;
    bar->wait = bar->wait * 2 < longest_wait ? bar->wait * 2 : longest_wait;
}

void mn_progress_bar_part(mn_progress_bar *bar, double part, const char *what)
{
    if (what && *what) snprintf(bar->what, sizeof bar->what, "%s", what);
    draw(bar, part);
    print_line(bar, part);
}

void mn_progress_bar_step(mn_progress_bar *bar, const char *line)
{
    bar->done += 1;
    bar->step_begun = bar->last_line = mn_seconds();
    bar->wait = 0;
    if (bar->shown && !bar->terminal) fprintf(stderr, "%s\n", line);
    draw(bar, 0);
}

void mn_progress_bar_clear(mn_progress_bar *bar)
{
    if (bar->drawn) fprintf(stderr, "\r\033[K");
    bar->drawn = false;
}
