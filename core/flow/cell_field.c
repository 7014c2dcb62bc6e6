// SPDX-License-Identifier: Apache-2.0
//
// A quantity of the cells as blocks of voxels. A level set is that of the liquid within the box, whose own
// distance counts on both sides of a wall: between them it passes zero on the wall, and the liquid ends
// there. Everything else is zero outside of the box.
#include "flow/cell_field.h"

static const double CRUMB = 1e-6; // of the scale: fog below it is none

// How far a cell's centre is from the sides of the box, in cells; negative inside.
static double from_sides(const mn_flow_view *view, const int32_t cell[3])
{
    double out = -INFINITY;
    for (int32_t a = 0; a < 3; a++) out = fmax(out, fmax(0.5 - cell[a], cell[a] - view->cells[a] - 0.5));
    return out;
}

static double value_at(const mn_flow_cell_field *f, int64_t at, int32_t component, double out)
{
    const double *values = f->values[component];
    double v = values ? values[at * f->stride] * f->scale : f->weight ? f->weight[at] : 0;
    if (f->weight) v = f->weight[at] > CRUMB ? v / f->weight[at] : 0;
    if (f->kind == MN_VOLUME_LEVEL_SET)
        return fmin(fmax(fmax(v, out * f->scale), -f->background), f->background);
    return out > 0 || fabs(v) < CRUMB * f->scale ? 0 : v;
}

int64_t mn_flow_cell_blocks(const mn_flow_view *view, const mn_flow_cell_field *f, int32_t (*origins)[3],
                            double *values)
{
    int64_t kept = 0;
    for (int64_t b = 0; b < view->block_count; b++) {
        bool any = false;
        double *to = values + kept * 64 * f->components;
        for (int32_t k = 0; k < 64; k++) {
            const int32_t local[3] = {k & 3, k >> 2 & 3, k >> 4};
            const int64_t at = b * 64 + 16 * local[0] + 4 * local[1] + local[2];
            int32_t cell[3];
            for (int32_t a = 0; a < 3; a++) cell[a] = 4 * view->blocks[b][a] + local[a];
            const double out = from_sides(view, cell);
            for (int32_t c = 0; c < f->components; c++) {
                const double v = value_at(f, at, c, out);
                any |= v != f->background;
                to[k * f->components + c] = v;
            }
        }
        if (!any) continue;
        for (int32_t a = 0; a < 3; a++)
            origins[kept][a] =
                (int32_t)floor(mn_component(view->origin, a) / view->dx + 0.5) + 4 * view->blocks[b][a];
        kept++;
    }
    return kept;
}
