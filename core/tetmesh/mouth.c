// SPDX-License-Identifier: Apache-2.0
//
// Mouths of pipes that tetrahedra come out of, whoever solves for them.
//
// The mouth is the flat end of a slug of tetrahedra, across the velocity v. Faces of the liquid that lie in
// it, the cap, move with v. Whenever they have moved by a layer, one edge long, prisms of three tetrahedra
// are put behind them and the cap is in the mouth again. With A the mouth's area and Q the flow rate:
//
//   |v| = Q/A,  a layer every T = size/|v| seconds
//
// How far a cap has moved is part of the state, so that the flow may change at any time: several pipes, each
// along its own v, share Q by their areas. A pipe that is shut holds its cap.
#include "tetmesh/mouth.h"

#include <string.h>

static const double ON_CAP = 0.02;    // of the size
static const double WHOLE = 1 - 1e-9; // sums of steps miss a layer by rounding
enum { MOST = 255 };

bool mn_tet_mouth_caps(const mn_tet_mouth *m, double size, mn_vec3 x)
{
    const double s = mn_tet_mouth_along(m, x) - m->begin;
    return m->area > 0 && fabs(s - m->moved) < ON_CAP * size &&
           mn_norm(mn_axpy(mn_sub(x, m->axis), -(s + m->begin), m->along)) < m->radius + ON_CAP * size;
}

double mn_tet_mouths_next_layer(const mn_tet_mouth *mouths, int64_t count, double size)
{
    double next = INFINITY;
    for (int64_t k = 0; k < count; k++) {
        const double speed = mn_norm(mouths[k].velocity);
        if (mouths[k].area > 0 && speed > 0) next = fmin(next, (size - mouths[k].moved) / speed);
    }
    return next;
}

void mn_tet_mouths_move(mn_tet_mouth *mouths, int64_t count, double seconds)
{
    for (int64_t k = 0; k < count; k++) mouths[k].moved += seconds * mn_norm(mouths[k].velocity);
}

bool mn_tet_mouth_is_due(const mn_tet_mouth *m, double size)
{
    return m->area > 0 && m->moved >= WHOLE * size;
}

// ---- the slug ----

/// Area of the flat end of the slug.
static double end_area(const mn_tet_mouth *m, const mn_tet_mesh *slug, double tolerance)
{
    double area = 0;
    for (int32_t t = 0; t < slug->tet_slots; t++)
        for (int k = 0; k < 4 && mn_tet_alive(slug, t); k++) {
            mn_vec3 x[3];
            bool flat = slug->mate[t][k] < 0;
            for (int c = 0; c < 3; c++) {
                x[c] = slug->position[slug->tet[t][mn_tet_face_corners[k][c]]];
                flat = flat && mn_tet_mouth_along(m, x[c]) < m->begin + tolerance;
            }
            if (flat) area += 0.5 * mn_norm(mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0])));
        }
    return area;
}

/// The mouth of a slug along m->along; no area without a flat end.
static void measure(double size, const mn_tet_mesh *slug, mn_tet_mouth *m)
{
    mn_box box = mn_box_empty();
    for (int32_t i = 0; i < slug->vertex_slots; i++)
        if (mn_tet_vertex_alive(slug, i)) box = mn_box_add(box, slug->position[i]);
    m->axis = mn_lerp(box.min, box.max, 0.5);
    m->begin = INFINITY, m->radius = 0;
    for (int32_t i = 0; i < slug->vertex_slots; i++) {
        if (!mn_tet_vertex_alive(slug, i)) continue;
        const double s = mn_tet_mouth_along(m, slug->position[i]);
        m->begin = fmin(m->begin, s);
        m->radius = fmax(m->radius, mn_norm(mn_axpy(mn_sub(slug->position[i], m->axis), -s, m->along)));
    }
    m->area = end_area(m, slug, ON_CAP * size);
}

static mn_status check_pipe(mn_context *ctx, const mn_tet_pipe *pipe)
{
    if (!pipe->slug) return mn_fail(ctx, MN_ERROR_INPUT, "An emitter has no tetrahedra.");
    if (!mn_is_finite3(pipe->velocity) || !(pipe->flow_rate >= 0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The velocity of an emitter is not finite, or its flow rate of %g m^3/s is below 0.",
                       pipe->flow_rate);
    for (int32_t t = 0; t < pipe->slug->tet_slots; t++)
        if (mn_tet_alive(pipe->slug, t) && !(mn_tet_mesh_tet_volume(pipe->slug, t) > 0))
            return mn_fail(ctx, MN_ERROR_INPUT, "Tetrahedron %d of the emitter is flat or inverted.", t);
    return MN_OK;
}

static mn_status find_mouths(mn_context *ctx, double size, const mn_tet_pipe *pipe, mn_tet_mouth *m,
                             double *area)
{
    *area = 0;
    for (; pipe; pipe = pipe->next, m++) {
        const double speed = mn_norm(pipe->velocity);
        if (speed > 0) m->along = mn_scale(1 / speed, pipe->velocity);
        if (!(mn_norm2(m->along) > 0)) continue; // never open
        measure(size, pipe->slug, m);
        if (m->area > 0) {
            if (speed > 0) *area += m->area;
            continue;
        }
        m->along = mn_v3(0, 0, 0);
        return mn_fail(
            ctx, MN_ERROR_INPUT,
            "The emitter has no flat end across its velocity (%g, %g, %g) m/s; give it one, as a box or a "
            "cylinder along it has, and fill it with tetrahedra small enough to keep it flat.",
            pipe->velocity.x, pipe->velocity.y, pipe->velocity.z);
    }
    return MN_OK;
}

// By their own v, or by the rate that they share.
static bool set_velocities(const mn_tet_pipe *pipe, double area, mn_tet_mouth *m)
{
    const double rate = pipe->flow_rate;
    bool changed = false;
    for (; pipe; pipe = pipe->next, m++) {
        const bool paced = rate > 0 && mn_norm2(pipe->velocity) > 0;
        const mn_vec3 velocity = paced ? mn_scale(rate / area, m->along) : pipe->velocity;
        changed = changed || mn_norm2(mn_sub(velocity, m->velocity)) > 0;
        m->velocity = velocity;
    }
    return changed;
}

mn_status mn_tet_mouths_open(mn_context *ctx, double size, const mn_tet_pipe *pipe, mn_tet_mouths *mouths,
                             bool *changed)
{
    int64_t count = 0;
    double area;
    *changed = false;
    if (pipe && !pipe->slug && !pipe->next) pipe = NULL;
    for (const mn_tet_pipe *p = pipe; p; p = p->next, count++) MN_TRY(check_pipe(ctx, p));
    if (count > MOST)
        return mn_fail(ctx, MN_ERROR_INPUT, "There are %lld emitters; use at most %d.", (long long)count,
                       MOST);
    if (count != mouths->count) {
        MN_TRY(mn_array_resize(ctx, mouths, count));
        if (count > 0) memset(mouths->data, 0, mn_bytes(count, sizeof *mouths->data));
    }
    if (count == 0) return MN_OK;
    MN_TRY(find_mouths(ctx, size, pipe, mouths->data, &area));
    *changed = set_velocities(pipe, area, mouths->data);
    return MN_OK;
}

// ---- a layer ----

void mn_tet_prism(const int32_t front[3], const int32_t behind[3], const mn_vec3 front_x[3],
                  const mn_vec3 behind_x[3], int32_t tets[3][4])
{
    int o[3] = {0, 1, 2}; // front vertices, rising
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (front[o[j]] > front[o[j + 1]]) {
                const int swap = o[j];
                o[j] = o[j + 1], o[j + 1] = swap;
            }
    for (int i = 0; i < 3; i++) {
        mn_vec3 x[4];
        for (int k = 0; k < 4; k++) { // 3 - i of the front, then from the last of them on behind
            const int from = k <= 2 - i ? o[k] : o[k - 1];
            tets[i][k] = k <= 2 - i ? front[from] : behind[from];
            x[k] = k <= 2 - i ? front_x[from] : behind_x[from];
        }
        if (mn_tet_volume(x[0], x[1], x[2], x[3]) < 0) {
            const int32_t swap = tets[i][0];
            tets[i][0] = tets[i][1], tets[i][1] = swap;
        }
    }
}
