// SPDX-License-Identifier: Apache-2.0
//
// The formulas of field_formula.h.
#include "sources/field_formula.h"

static mn_vec3 vortex(const mn_formula *f, mn_vec3 r)
{
    const mn_vec3 n = mn_normalize(f->axis), out = mn_axpy(r, -mn_dot(r, n), n);
    const double size2 = mn_norm2(out), R = f->radius;
    const double rate = size2 > R * R ? R / size2 : 1 / R;
    return mn_scale(f->number * rate, mn_cross(n, out));
}

static mn_vec3 attractor(const mn_formula *f, mn_vec3 r)
{
    const double size = mn_norm(r), R = f->radius;
    const double rate = size > R ? R * R / (size * size * size) : 1 / R;
    return mn_scale(-f->number * rate, r);
}

void mn_formula_at(const mn_formula *f, mn_vec3 x, double *values)
{
    const mn_vec3 r = mn_sub(x, f->center), b = f->gradient;
    mn_vec3 v = f->vector;
    if (f->components == 1) {
        values[0] = f->number + (f->kind == MN_FORMULA_LINEAR ? mn_dot(b, r) : 0);
        return;
    }
    if (f->kind == MN_FORMULA_LINEAR) v = mn_add(v, mn_v3(b.x * r.x, b.y * r.y, b.z * r.z));
    if (f->kind == MN_FORMULA_VORTEX) v = vortex(f, r);
    if (f->kind == MN_FORMULA_ATTRACTOR) v = attractor(f, r);
    values[0] = v.x, values[1] = v.y, values[2] = v.z;
}
