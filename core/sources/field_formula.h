// SPDX-License-Identifier: Apache-2.0
//
// Simple fields to act on liquids with: forces, winds, and materials that change from place to place.
//
//   constant   a
//   linear     a + b o (x - c)                   vectors, component by component: a stretch
//              a + b . (x - c)                   numbers
//   vortex     a n x r min(1/R, R/|r|^2)         r = x - c without its part along n; rigid inside R, free
//   outside attractor  -a (x - c) min(1/R, R^2/|x - c|^3)   a spring inside R, a mass outside
#ifndef MENISCUS_SOURCES_FIELD_FORMULA_H
#define MENISCUS_SOURCES_FIELD_FORMULA_H

#include "meniscus/vec.h"

typedef enum mn_formula_kind {
    MN_FORMULA_CONSTANT,
    MN_FORMULA_LINEAR,
    MN_FORMULA_VORTEX,
    MN_FORMULA_ATTRACTOR,
} mn_formula_kind;

typedef struct mn_formula {
    mn_formula_kind kind;
    int32_t components; ///< 1 or 3; vortex and attractor have 3
    mn_vec3 center;     ///< c, m
    mn_vec3 vector;     ///< a of vectors
    double number;      ///< a of numbers, and of vortex and attractor, at R
    mn_vec3 gradient;   ///< b, per m
    mn_vec3 axis;       ///< n, any length above 0
    double radius;      ///< R, m, > 0
} mn_formula;

/// `components` numbers.
void mn_formula_at(const mn_formula *formula, mn_vec3 x, double *values);

#endif
