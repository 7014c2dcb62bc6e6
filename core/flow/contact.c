// SPDX-License-Identifier: Apache-2.0
//
// How phi goes on beyond the sides of the box and inside solids, which is where contact angles come from:
//
//   grad phi . w = -cos(contact angle),  w into the solid,   where the surface meets it
//   grad phi . w as it is before it                          elsewhere
//
// A side that the surface does not meet, such as the floor of a pond or the lid over it, must not bend it: a
// kink there travels to the surface through the splines, and made ripples up to 4 % too slow. Curvature then
// gives the contact line its force by itself. Tested: tests/unit/flow/test_contact.c.
#include "base/elementary.h"
#include "flow/surface.h"

static const double near_meeting = 3.0,
                    far_meeting = 4.5; ///< cells along a side: the surface meets it, or not
static const double deepest = 4.0;     ///< cells inside a solid that phi is continued to
static const double radians = MN_PI / 180;

typedef struct contact_job {
    mn_flow *flow;
    const double *from;
} contact_job;

// How much the surface meets a side, from how phi rises towards it: |phi| / sqrt(1 - rise^2) is how far along
// the side that would be.
static double meeting(double phi, double rise)
{
    const double along = fabs(phi) / sqrt(fmax(1 - rise * rise, 1e-4));
    return fmin(fmax((far_meeting - along) / (far_meeting - near_meeting), 0), 1);
}

static void side_block(void *user, int32_t block)
{
    const contact_job *job = user;
    mn_flow *flow = job->flow;
    const mn_flow_grid *grid = &flow->grid;
    const double bend = mn_cos(flow->def.contact_angle * radians);
    double *continued = mn_flow_plane_of(flow, MN_FLOW_PHI);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
        double phi = MN_FLOW_FAR;
        if (mn_flow_around_box(grid, c)) {
            const int32_t outer[3] = {c.x, c.y, c.z};
            int32_t in[3];
            for (int32_t a = 0; a < 3; a++)
                in[a] = outer[a] < 1 ? 1 : outer[a] > grid->cells[a] ? grid->cells[a] : outer[a];
            const int32_t inner = mn_flow_cell_at(grid, in[0], in[1], in[2]);
            if (inner >= 0) phi = job->from[inner];
            for (int32_t a = 0; a < (flow->def.flat ? 2 : 3) && inner >= 0; a++) {
                if (in[a] == outer[a]) continue;
                int32_t before[3] = {in[0], in[1], in[2]};
                before[a] += in[a] - outer[a];
                const int32_t other = mn_flow_cell_at(grid, before[0], before[1], before[2]);
                const double rise = other < 0 ? 0 : job->from[inner] - job->from[other];
                const double meets = meeting(job->from[inner], rise);
                phi += meets * -bend + (1 - meets) * fmin(fmax(rise, -1), 1);
            }
        }
        continued[at] = phi;
    }
}

mn_status mn_flow_meet_sides(mn_flow *flow, const double *distance)
{
    contact_job job = {flow, distance};
    return mn_flow_for_blocks(&flow->grid, side_block, &job);
}

static void solid_block(void *user, int32_t block)
{
    mn_flow *flow = ((contact_job *)user)->flow;
    const mn_flow_grid *grid = &flow->grid;
    const bool painted = flow->collider && mn_collider_is_painted(flow->collider, MN_PAINT_CONTACT_ANGLE);
    double *continued = mn_flow_plane_of(flow, MN_FLOW_PHI);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
        const double inside = -flow->solid.data[at];
        if (!(inside > 0) || inside > deepest || !mn_flow_around_box(grid, c)) continue;
        const mn_vec3 X = mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5);
        const mn_vec3 out = mn_sub(mn_flow_out_of_solid(flow, X), X);
        const double depth = mn_norm(out);
        if (!(depth > 1e-6)) continue;
        // half a cell outside of the solid, where the splines see liquid and air only
        const mn_vec3 w = mn_scale(-1 / depth, out), before = mn_axpy(X, -(depth + 0.5), w);
        mn_flow_taps taps;
        mn_flow_find_taps(grid, before, &taps);
        const double value = mn_flow_gather_value(&taps, flow->surface.data);
        const double rise = mn_dot(mn_flow_gather_slope(&taps, flow->surface.data), w);
        const double meets = meeting(value, rise);
        if (!(meets > 0)) continue; // what is carried along inside goes straight on
        double angle = flow->def.contact_angle;
        if (painted)
            angle = mn_collider_painted(flow->collider, MN_PAINT_CONTACT_ANGLE, angle, flow->before,
                                        mn_flow_to_world(grid, mn_axpy(X, -depth, w)));
        const double own = continued[at];
        const double phi = value - (depth + 0.5) * mn_cos(angle * radians);
        continued[at] = fmin(fmax(own + meets * (phi - own), -MN_FLOW_FAR), MN_FLOW_FAR);
    }
}

mn_status mn_flow_meet_solids(mn_flow *flow)
{
    contact_job job = {flow, NULL};
    return mn_flow_for_blocks(&flow->grid, solid_block, &job);
}
