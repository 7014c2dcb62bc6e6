// SPDX-License-Identifier: Apache-2.0
//
// Where a point that is born between two others, or stands for both, belongs: on the film, by moving least
// squares.
//
// In the frame of the two, with a point of the chord as origin and the mean of the normals as z, the points
// within two edges are the graph
//
//   z = f(x, y),   f the polynomial of degree 3 that minimises sum_i W(d_i) (f(x_i, y_i) - z_i)^2
//
// (weighted_fit.h; W(d) = (1 - d)^4 (4 d + 1), d the distance over 3 spacings), and the point is at
// (0, 0, f(0, 0)). The cubic through the ends and their normals, which reseed.c takes where there is no
// patch, has the error of the triangles' normals in it: a sphere carried through LeVeque's field and back
// (tests/validation/test_mls_reseeding.c) is off by 3.0e-4 of its radius with it and by 1.2e-4 with this.
#include "codim/state.h"
#include "codim/weighted_fit.h"

enum { MOST = 64, LEAST = 12, COLUMNS = 10 }; // points of a patch; degree 3

static const double REACH = 3;       // spacings
static const double SAME_SIDE = 0.5; // least cosine between normals of one sheet
static const double FARTHEST = 0.3;  // lengths of the edge that the film may be away from the chord

typedef struct patch {
    int32_t count;
    int32_t member[MOST];
} patch;

static void add(const mn_codim *mls, int32_t p, mn_vec3 normal, patch *patch)
{
    const mn_codim_point *point = &mls->points.data[p];
    if (patch->count == MOST || point->codim != MN_CODIM_FILM || mn_codim_is_dead(point)) return;
    if (mn_dot(point->normal, normal) < SAME_SIDE) return;
    for (int32_t i = 0; i < patch->count; i++)
        if (patch->member[i] == p) return;
    patch->member[patch->count++] = p;
}

static void add_around(const mn_codim *mls, int32_t p, mn_vec3 normal, patch *patch)
{
    for (int64_t e = mls->matrix.start.data[p]; e < mls->matrix.start.data[p + 1]; e++)
        add(mls, mls->matrix.column.data[e], normal, patch);
}

// Columns sqrt(W) times 1, x, y, x^2, x y, y^2, x^3 ... and sqrt(W) z.
static void set_row(weighted_fit *fit, int32_t i, mn_vec3 d, double weight, double *scaled)
{
    const double root = sqrt(weight);
    const double columns[COLUMNS] = {1,
                                     d.x,
                                     d.y,
                                     d.x * d.x,
                                     d.x * d.y,
                                     d.y * d.y,
                                     d.x * d.x * d.x,
                                     d.x * d.x * d.y,
                                     d.x * d.y * d.y,
                                     d.y * d.y * d.y};
    for (int32_t k = 0; k < COLUMNS; k++) fit->q[k * fit->stride + i] = root * columns[k];
    fit->root[i] = root;
    scaled[i] = root * d.z;
}

bool mn_codim_project_between(const mn_codim *mls, int32_t p, int32_t q, double t, mn_vec3 *position)
{
    const mn_codim_point *a = &mls->points.data[p], *b = &mls->points.data[q];
    const mn_vec3 origin = mn_lerp(a->position, b->position, t), edge = mn_sub(b->position, a->position);
    const mn_vec3 normal = mn_normalize(mn_add(a->normal, b->normal));
    patch patch = {0};
    if (!(mn_norm2(normal) > 0)) return false;
    add(mls, p, normal, &patch), add(mls, q, normal, &patch);
    add_around(mls, p, normal, &patch), add_around(mls, q, normal, &patch);
    for (int32_t i = 2, first = patch.count; i < first; i++) add_around(mls, patch.member[i], normal, &patch);

    _Alignas(32) double columns[COLUMNS * MOST] = {0}, root[MOST] = {0}, scaled[MOST] = {0};
    weighted_fit fit = {.columns = COLUMNS, .stride = MOST, .q = columns, .root = root};
    const mn_vec3 x = mn_normalize(mn_axpy(edge, -mn_dot(edge, normal), normal)), y = mn_cross(normal, x);
    const double scale = 1 / (REACH * mls->def.spacing);
    int32_t rows = 0;
    for (int32_t i = 0; i < patch.count; i++) {
        const mn_vec3 d = mn_scale(scale, mn_sub(mls->points.data[patch.member[i]].position, origin));
        const double r = mn_norm(d), s = 1 - r;
        if (!(s > 0)) continue;
        set_row(&fit, rows++, mn_v3(mn_dot(d, x), mn_dot(d, y), mn_dot(d, normal)),
                s * s * s * s * (4 * r + 1), scaled);
    }
    if (rows < LEAST || fit_factor(&fit) < COLUMNS) return false;
    double f[MN_FIT_COLUMNS_MAX];
    fit_solve(&fit, COLUMNS, scaled, f);
    const double height = f[0] / scale;
    if (!(fabs(height) < FARTHEST * mn_norm(edge))) return false;
    *position = mn_axpy(origin, height, normal);
    return true;
}
