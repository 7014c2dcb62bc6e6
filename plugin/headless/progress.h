// SPDX-License-Identifier: Apache-2.0
//
// How far a long job is, on stderr: a bar with the time left on a terminal, a line per step elsewhere, and
// more of them while a step takes long.
#ifndef MENISCUS_PLUGIN_HEADLESS_PROGRESS_H
#define MENISCUS_PLUGIN_HEADLESS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/// Zero-initialised is silent.
typedef struct mn_progress_bar {
    bool shown;    ///< false: says nothing
    bool terminal; ///< a bar that is drawn over and over
    bool drawn;    ///< the bar stands on the current line
    bool whole;    ///< lines within a long step tell of all steps: many run at a time
    double begun, last_drawn;
    double done; ///< steps that are done
    double total;
    double step_begun, last_line, wait; ///< where there is no bar: of lines within a long step
    char what[96];
} mn_progress_bar;

void mn_progress_bar_begin(mn_progress_bar *bar, bool quiet, double total);
/// `part` of the running step is done.
void mn_progress_bar_part(mn_progress_bar *bar, double part, const char *what);
/// A step is done; `line` says what came out of it where there is no bar.
void mn_progress_bar_step(mn_progress_bar *bar, const char *line);
/// Takes the bar away, so that a sentence can be printed.
void mn_progress_bar_clear(mn_progress_bar *bar);

/// "1:02:03" or "0:07".
void mn_format_duration(double seconds, char text[32]);
/// "1.5 GB".
void mn_format_bytes(double bytes, char text[32]);

#endif
