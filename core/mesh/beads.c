// SPDX-License-Identifier: Apache-2.0
//
// Drops that are too small for the grid, as ellipsoids (see beads.h).
//
//   S  = sum w (x - c)(x - c)^T / sum w + r^2/5 I      spread of the particles, each a ball of radius r
//   L  = cholesky(5 S), scaled so that 4/3 pi det L is their volume
//
// since a full ellipsoid with half axes a has the spread a^2 / 5. x = c + L u with |u| = 1 is its surface.
#include "mesh/beads.h"
#include "base/elementary.h"

#include "meniscus/array.h"

enum { BALL_VERTICES = 162, BALL_TRIANGLES = 320 };
/// In nodes' distances: below it, marching cubes shows corners.
static const double largest_radius = 2.0;
static const double pi = MN_PI;

/// Sums over a body's particles.
typedef struct body_spread {
    double volume, particle; ///< of all; of its largest particle
    mn_vec3 center, v;       ///< weighted by volume
    mn_mat3 spread;
    int32_t bead; ///< -1: none
} body_spread;

struct mn_beads {
    mn_context *ctx;
    MN_ARRAY(int32_t) body_of;
    MN_ARRAY(body_spread) bodies;
    MN_ARRAY(mn_bead) beads;
    MN_ARRAY(mn_vec3) positions;
    int32_t (*triangles)[3];
    int64_t triangle_capacity;
    int32_t first; ///< vertex of the first bead
    mn_vec3 ball[BALL_VERTICES];
    int32_t ball_triangles[BALL_TRIANGLES][3];
};

// ---- the unit ball: an icosahedron, divided twice ----

static int32_t middle_of(mn_beads *beads, int32_t (*edges)[3], int32_t *edge_count, int32_t *count, int32_t a,
                         int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (int32_t e = 0; e < *edge_count; e++)
        if (edges[e][0] == low && edges[e][1] == high) return edges[e][2];
    beads->ball[*count] = mn_normalize(mn_add(beads->ball[a], beads->ball[b]));
    int32_t *edge = edges[(*edge_count)++];
    edge[0] = low, edge[1] = high, edge[2] = *count;
    return (*count)++;
}

static void make_ball(mn_beads *beads)
{
    static const int32_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                         {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                         {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                         {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double g = 0.5 * (1 + sqrt(5.0));
    const mn_vec3 corners[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                 {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    int32_t vertices = 12, triangles = 20, divided[BALL_TRIANGLES][3], edges[BALL_TRIANGLES * 3 / 2][3];
    for (int32_t i = 0; i < 12; i++) beads->ball[i] = mn_normalize(corners[i]);
    for (int32_t t = 0; t < 20; t++)
        for (int k = 0; k < 3; k++) beads->ball_triangles[t][k] = faces[t][k];
    for (int round = 0; round < 2; round++) {
        int32_t edge_count = 0, made = 0;
        for (int32_t t = 0; t < triangles; t++) {
            const int32_t *f = beads->ball_triangles[t];
            int32_t m[3];
            for (int k = 0; k < 3; k++)
                m[k] = middle_of(beads, edges, &edge_count, &vertices, f[k], f[(k + 1) % 3]);
            const int32_t parts[4][3] = {
                {f[0], m[0], m[2]}, {f[1], m[1], m[0]}, {f[2], m[2], m[1]}, {m[0], m[1], m[2]}};
            for (int p = 0; p < 4; p++, made++)
                for (int k = 0; k < 3; k++) divided[made][k] = parts[p][k];
        }
        triangles = made;
        for (int32_t t = 0; t < triangles; t++)
            for (int k = 0; k < 3; k++) beads->ball_triangles[t][k] = divided[t][k];
    }
    // The polyhedron inside a ball holds less than it: this one is to hold as much.
    double volume = 0;
    for (int32_t t = 0; t < triangles; t++) {
        const int32_t *f = beads->ball_triangles[t];
        volume += mn_dot(beads->ball[f[0]], mn_cross(beads->ball[f[1]], beads->ball[f[2]])) / 6;
    }
    const double grow = mn_cbrt(4.0 / 3.0 * pi / volume);
    for (int32_t i = 0; i < vertices; i++) beads->ball[i] = mn_scale(grow, beads->ball[i]);
}

mn_status mn_beads_create(mn_context *ctx, mn_beads **out)
{
    mn_beads *beads = mn_allocate_zero(ctx, sizeof *beads);
    *out = beads;
    if (!beads) return MN_ERROR_MEMORY;
    beads->ctx = ctx;
    make_ball(beads);
    return MN_OK;
}

void mn_beads_free(mn_beads *beads)
{
    if (!beads) return;
    mn_array_free(beads->ctx, &beads->body_of);
    mn_array_free(beads->ctx, &beads->bodies);
    mn_array_free(beads->ctx, &beads->beads);
    mn_array_free(beads->ctx, &beads->positions);
    mn_release(beads->ctx, beads->triangles, mn_bytes(beads->triangle_capacity, sizeof *beads->triangles));
    mn_release(beads->ctx, beads, sizeof *beads);
}

// ---- which bodies ----

static mn_status sum_bodies(mn_beads *beads, mn_level_set *set, mn_points particles, const double *volumes,
                            const mn_vec3 *velocities)
{
    const int32_t count = mn_level_set_get(set).body_count;
    MN_TRY(mn_array_resize(beads->ctx, &beads->body_of, particles.count));
    MN_TRY(mn_array_resize(beads->ctx, &beads->bodies, count));
    MN_TRY(mn_level_set_bodies_of_points(set, particles, beads->body_of.data));
    for (int32_t b = 0; b < count; b++) beads->bodies.data[b] = (body_spread){.bead = -1};
    for (int64_t i = 0; i < particles.count; i++) {
        if (beads->body_of.data[i] < 0) continue;
        body_spread *s = &beads->bodies.data[beads->body_of.data[i]];
        s->volume += volumes[i];
        s->particle = fmax(s->particle, volumes[i]);
        s->center = mn_axpy(s->center, volumes[i], mn_points_at(&particles, i));
        if (velocities) s->v = mn_axpy(s->v, volumes[i], velocities[i]);
    }
    for (int32_t b = 0; b < count; b++) {
        body_spread *s = &beads->bodies.data[b];
        if (!(s->volume > 0)) continue;
        s->center = mn_scale(1 / s->volume, s->center);
        s->v = mn_scale(1 / s->volume, s->v);
    }
    // Offsets from the middle itself: far from the origin, squares of positions would have no digits left.
    for (int64_t i = 0; i < particles.count; i++) {
        if (beads->body_of.data[i] < 0) continue;
        body_spread *s = &beads->bodies.data[beads->body_of.data[i]];
        const mn_vec3 d = mn_sub(mn_points_at(&particles, i), s->center);
        s->spread = mn_m3_add(s->spread, mn_m3_scale(volumes[i] / s->volume, mn_outer(d, d)));
    }
    return MN_OK;
}

// The lower triangle with L L^T = a, for a positive definite a.
static mn_mat3 cholesky(mn_mat3 a)
{
    mn_mat3 l = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a.m[i][j];
            for (int k = 0; k < j; k++) sum -= l.m[i][k] * l.m[j][k];
            l.m[i][j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / l.m[j][j];
        }
    return l;
}

static mn_bead bead_of(const body_spread *s)
{
    const double r2 = mn_pow(0.75 / pi * s->particle, 2.0 / 3.0);
    const mn_mat3 axes2 = mn_m3_add(mn_m3_scale(5, s->spread), mn_m3_scale(r2, mn_m3_identity()));
    const mn_mat3 l = cholesky(axes2);
    const double grow = mn_cbrt(s->volume / (4.0 / 3.0 * pi * mn_m3_determinant(l)));
    return (mn_bead){s->center, mn_m3_scale(grow, l), s->v};
}

mn_status mn_beads_take(mn_beads *beads, mn_level_set *set, mn_points particles, const double *volumes,
                        const mn_vec3 *velocities)
{
    const mn_level_set_view view = mn_level_set_get(set);
    const double r = largest_radius * view.blocks.dx, largest = 4.0 / 3.0 * pi * r * r * r;
    beads->beads.count = 0;
    MN_TRY(sum_bodies(beads, set, particles, volumes, velocities));
    for (int32_t b = 0; b < view.body_count; b++) {
        body_spread *s = &beads->bodies.data[b];
        if (s->volume > largest || (s->volume > 0 && view.bodies[b].wetted > 0)) continue;
        s->bead = (int32_t)beads->beads.count; // of none when it is empty: it only goes
        const mn_bead bead = bead_of(s);
        if (s->volume > 0) MN_TRY(mn_array_push(beads->ctx, &beads->beads, &bead));
    }
    for (int64_t i = 0; view.node_body && i < (int64_t)view.blocks.count * MN_BLOCK_CELLS; i++)
        if (view.phi[i] < 0 && view.node_body[i] >= 0 && beads->bodies.data[view.node_body[i]].bead >= 0)
            view.phi[i] = view.band;
    return MN_OK;
}

void mn_beads_clear(mn_beads *beads)
{
    beads->beads.count = 0;
}

int64_t mn_beads_count(const mn_beads *beads)
{
    return beads->beads.count;
}

const mn_bead *mn_beads_get(const mn_beads *beads)
{
    return beads->beads.data;
}

// ---- their mesh ----

static mn_status reserve_triangles(mn_beads *beads, int64_t count)
{
    if (count <= beads->triangle_capacity) return MN_OK;
    void *made = mn_allocate(beads->ctx, mn_bytes(count, sizeof *beads->triangles));
    if (!made) return MN_ERROR_MEMORY;
    mn_release(beads->ctx, beads->triangles, mn_bytes(beads->triangle_capacity, sizeof *beads->triangles));
    beads->triangles = made;
    beads->triangle_capacity = count;
    return MN_OK;
}

mn_status mn_beads_join(mn_beads *beads, const mn_iso_mesh *mesh, mn_iso_mesh *joined)
{
    const int64_t vertices = mesh->vertex_count + BALL_VERTICES * beads->beads.count;
    const int64_t triangles = mesh->triangle_count + BALL_TRIANGLES * beads->beads.count;
    *joined = *mesh;
    beads->first = mesh->vertex_count;
    if (beads->beads.count == 0) return MN_OK;
    if (vertices > INT32_MAX || triangles > INT32_MAX)
        return mn_fail(beads->ctx, MN_ERROR_UNSUPPORTED,
                       "The surface and its %lld small drops have more than two billion points.",
                       (long long)beads->beads.count);
    MN_TRY(mn_array_resize(beads->ctx, &beads->positions, vertices));
    MN_TRY(reserve_triangles(beads, triangles));
    for (int32_t i = 0; i < mesh->vertex_count; i++) beads->positions.data[i] = mesh->positions[i];
    for (int32_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) beads->triangles[t][k] = mesh->triangles[t][k];
    for (int32_t b = 0; b < (int32_t)beads->beads.count; b++) {
        const mn_bead *bead = &beads->beads.data[b];
        const int32_t first = beads->first + b * BALL_VERTICES;
        int32_t(*to)[3] = beads->triangles + mesh->triangle_count + (int64_t)b * BALL_TRIANGLES;
        for (int32_t i = 0; i < BALL_VERTICES; i++)
            beads->positions.data[first + i] = mn_add(bead->center, mn_m3_apply(bead->shape, beads->ball[i]));
        for (int32_t t = 0; t < BALL_TRIANGLES; t++)
            for (int k = 0; k < 3; k++) to[t][k] = first + beads->ball_triangles[t][k];
    }
    *joined = (mn_iso_mesh){.vertex_count = (int32_t)vertices,
                            .triangle_count = (int32_t)triangles,
                            .positions = beads->positions.data,
                            .triangles = (const int32_t(*)[3])beads->triangles};
    return MN_OK;
}

int32_t mn_beads_of_vertex(const mn_beads *beads, int32_t vertex)
{
    return vertex < beads->first ? -1 : (vertex - beads->first) / BALL_VERTICES;
}
