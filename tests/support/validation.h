// SPDX-License-Identifier: Apache-2.0
//
// Rows of docs/validation.md. A validation program measures a case as a user would, and says one row for each
// number:
//
//   static void resting_ball(void) {
//       ...
//       validation_row("V1", "mpm, R = 12 dx, water", pressure, 2 * sigma / R, "Pa", 0.05);
//   }
//   int main(int argc, char **argv) {
//       validation_begin(argc, argv);
//       resting_ball();
//       if (validation_long()) fine_ball();          // only with --all, from scripts/validate.sh
//       return validation_end();
//   }
//
// `--all TEXT` runs only the cases whose row and name hold TEXT ("V8 60 deg"), in programs whose cases begin
// with `if (!validation_wanted("V8", name)) return;`.
//
// The program fails when a row is outside its bound. A row that is known to be outside stands as such: call
// validation_short("why") before it. It is printed as not met, and the program fails if it is met after all,
// so that the remark cannot outlive its truth.
#ifndef MENISCUS_TESTS_SUPPORT_VALIDATION_H
#define MENISCUS_TESTS_SUPPORT_VALIDATION_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct {
    bool all;
    const char *only; ///< run cases whose row and name hold this; NULL for all
    int rows, wrong;
    const char *reason; ///< why the next row is short; NULL when it must hold
} validation_state;

static inline void validation_begin(int argc, char **argv)
{
    validation_state.all = argc > 1 && strcmp(argv[1], "--all") == 0;
    validation_state.only = argc > 2 ? argv[2] : NULL;
}

/// True unless the command line asks for other cases.
static inline bool validation_wanted(const char *row, const char *name)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s", row, name);
    return !validation_state.only || strstr(text, validation_state.only);
}

/// True when long cases are wanted too.
static inline bool validation_long(void)
{
    return validation_state.all;
}

/// The next row is known to be outside its bound, for this reason.
static inline void validation_short(const char *reason)
{
    validation_state.reason = reason;
}

static inline void validation_print(const char *row, const char *name, double measured, const char *reference,
                                    const char *unit, double error, double bound, bool met)
{
    const char *reason = validation_state.reason ? validation_state.reason : "";
    printf("VALIDATION\t%s\t%s\t%.6g\t%s\t%s\t%.3g\t%.3g\t%s\t%s\n", row, name, measured, reference, unit,
           error, bound, met ? "met" : "NOT MET", reason);
    fflush(stdout);
    validation_state.rows++;
    if (met == (validation_state.reason != NULL)) {
        validation_state.wrong++;
        fprintf(stderr, "%s (%s): %s\n", row, name,
                met ? "is met now: remove the remark that it is short" : "is outside its bound");
    }
    validation_state.reason = NULL;
}

/// measured against a reference: relative error at most `bound`.
static inline void validation_row(const char *row, const char *name, double measured, double reference,
                                  const char *unit, double bound)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", reference);
    const double error = fabs(measured - reference) / fabs(reference);
    validation_print(row, name, measured, text, unit, error, bound, error <= bound);
}

/// measured against a reference: absolute error at most `bound`, in the same unit.
static inline void validation_row_absolute(const char *row, const char *name, double measured,
                                           double reference, const char *unit, double bound)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", reference);
    const double error = fabs(measured - reference);
    validation_print(row, name, measured, text, unit, error, bound, error <= bound);
}

/// A quantity that must stay at or below `bound`.
static inline void validation_row_below(const char *row, const char *name, double measured, const char *unit,
                                        double bound)
{
    validation_print(row, name, measured, "at most", unit, measured, bound, measured <= bound);
}

/// A quantity that must reach at least `bound`.
static inline void validation_row_above(const char *row, const char *name, double measured, const char *unit,
                                        double bound)
{
    validation_print(row, name, measured, "at least", unit, measured, bound, measured >= bound);
}

/// The exit code: 0 when every row is as it should be.
static inline int validation_end(void)
{
    printf("%d rows, %d not as they should be\n", validation_state.rows, validation_state.wrong);
    return validation_state.rows > 0 && validation_state.wrong == 0 ? 0 : 1;
}

#endif
