// SPDX-License-Identifier: Apache-2.0
//
// Optimisation-based smoothing: move a vertex so that the worst quality around it rises [freitag1997].
//
// The worst is not smooth where several tetrahedra share it. The steepest ascent of all of them at once is
// the shortest vector d in the convex hull of their gradients, since g_i.d >= |d|^2 for each. A step goes to
// where the next tetrahedron would become the worst, and is halved until the worst has really risen.
//
// Boundary vertices use gradients in their tangent plane and are put back on the surface model after each
// step.
#include "tetmesh/edit/edit.h"

#include "base/predicates.h"
#include "tetmesh/quality.h"
#include "tetmesh/surface_model.h"

#include <string.h>

typedef struct star {
    int32_t count;
    int32_t tet[MN_TET_STAR_MAX];
    mn_vec3 face[MN_TET_STAR_MAX][3]; ///< opposite the vertex: (vertex, face) is positive
    double quality[MN_TET_STAR_MAX];
    mn_vec3 gradient[MN_TET_STAR_MAX];
} star;

static bool collect_star(const mn_tet_mesh *mesh, int32_t v, star *s)
{
    s->count = 0;
    MN_TET_STAR(mesh, v, code)
    {
        if (s->count == MN_TET_STAR_MAX) return false;
        for (int32_t i = 0; i < 3; i++)
            s->face[s->count][i] = mesh->position[mesh->tet[code / 4][mn_tet_face_corners[code % 4][i]]];
        s->tet[s->count++] = code / 4;
    }
    return s->count > 0;
}

static double worst_at(const star *s, mn_vec3 x)
{
    double worst = INFINITY;
    for (int32_t i = 0; i < s->count; i++)
        worst = fmin(worst, mn_tet_quality(x, s->face[i][0], s->face[i][1], s->face[i][2]));
    return worst;
}

static bool all_positive(const star *s, mn_vec3 x)
{
    for (int32_t i = 0; i < s->count; i++)
        if (!(mn_orient3d(x, s->face[i][0], s->face[i][1], s->face[i][2]) > 0)) return false;
    return true;
}

/// Shortest vector of the convex hull, by Gilbert's iteration; near enough for a direction.
static mn_vec3 shortest_in_hull(const mn_vec3 *g, int32_t count)
{
    mn_vec3 d = g[0];
    for (int32_t round = 0; round < 48; round++) {
        int32_t lowest = 0;
        for (int32_t i = 1; i < count; i++)
            if (mn_dot(g[i], d) < mn_dot(g[lowest], d)) lowest = i;
        const double length = mn_norm2(d);
        if (length - mn_dot(g[lowest], d) <= 1e-3 * length) break;
        const mn_vec3 to = mn_sub(g[lowest], d);
        const double t = fmin(1, -mn_dot(d, to) / mn_norm2(to));
        d = mn_axpy(d, t, to);
    }
    return d;
}

/// The direction in which the worst rise together, and how far until another is the worst.
static mn_vec3 ascent(star *s, mn_vec3 x, const mn_vec3 *normal, double *worst, double *reach)
{
    mn_vec3 active[MN_TET_STAR_MAX];
    int32_t count = 0;
    *worst = INFINITY;
    for (int32_t i = 0; i < s->count; i++) {
        s->quality[i] =
            mn_tet_quality_gradient(x, s->face[i][0], s->face[i][1], s->face[i][2], &s->gradient[i]);
        if (normal) s->gradient[i] = mn_axpy(s->gradient[i], -mn_dot(s->gradient[i], *normal), *normal);
        *worst = fmin(*worst, s->quality[i]);
    }
    for (int32_t i = 0; i < s->count; i++)
        if (s->quality[i] <= *worst + 0.01) active[count++] = s->gradient[i];
    const mn_vec3 d = shortest_in_hull(active, count);
    const double slope = mn_norm2(d);
    double nearest = INFINITY;
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t k = 0; k < 3; k++) nearest = fmin(nearest, mn_norm2(mn_sub(s->face[i][k], x)));
    *reach = slope > 0 ? 0.5 * sqrt(nearest / slope) : 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double gain = slope - mn_dot(s->gradient[i], d);
        if (s->quality[i] > *worst + 0.01 && gain > 0) *reach = fmin(*reach, (s->quality[i] - *worst) / gain);
    }
    return d;
}

// ---- fields ----

/// Linear fields take the value that the old star had at the new place. Amounts keep their density, scaled so
/// that the sum over the star stays.
static void carry_fields(mn_tet_mesh *mesh, int32_t v, const star *s, mn_vec3 to)
{
    double weights[4];
    int32_t parents[4];
    const int32_t home = mn_tet_home_of(mesh, s->count, s->tet, to, weights);
    memcpy(parents, mesh->tet[home], sizeof parents);
    for (int32_t f = 0; f < mesh->field_count; f++) {
        mn_tet_field *field = &mesh->fields[f];
        if (field->kind != MN_TET_AMOUNT) continue;
        for (int32_t k = 0; k < field->size; k++) {
            double before = 0, after = 0;
            for (int32_t i = 0; i < s->count; i++) {
                double *amount = &field->data[(int64_t)s->tet[i] * field->size + k];
                before += *amount;
                // A nearly flat tetrahedron has no density to speak of: its share may grow eightfold at most.
                const double was = mn_tet_mesh_tet_volume(mesh, s->tet[i]);
                const double is = mn_tet_volume(to, s->face[i][0], s->face[i][1], s->face[i][2]);
                after += *amount *= was > 0.125 * is ? is / was : 8;
            }
            const double scale = after != 0 ? before / after : 1;
            double sum = 0;
            for (int32_t i = 0; i < s->count; i++)
                sum += field->data[(int64_t)s->tet[i] * field->size + k] *= scale;
            field->data[(int64_t)s->tet[0] * field->size + k] += before - sum;
        }
    }
    mn_tet_mesh_blend_vertex(mesh, v, 4, parents, weights);
}

// ---- the operation ----

static mn_vec3 boundary_normal(const mn_tet_mesh *mesh, int32_t v)
{
    mn_vec3 sum = mn_v3(0, 0, 0);
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++)
        if (k != code % 4 && mesh->mate[code / 4][k] < 0)
            sum = mn_add(sum, mn_tet_face_normal(mesh, code / 4, k));
    return mn_normalize(sum);
}

/// Climbs from x; `project` puts each step back on the surface of v. *worst is the worst quality reached.
static mn_vec3 climb(mn_tet_edit *edit, star *s, int32_t v, mn_vec3 x, bool project, const mn_vec3 *normal,
                     double *first, double *worst)
{
    enum { STEPS = 6, HALVINGS = 5 };
    for (int32_t step = 0; step < STEPS; step++) {
        double reach;
        const mn_vec3 d = ascent(s, x, normal, worst, &reach);
        if (step == 0) *first = *worst;
        bool rose = false;
        for (int32_t half = 0; half < HALVINGS && !rose && mn_norm2(d) > 0; half++, reach *= 0.5) {
            mn_vec3 y = mn_axpy(x, reach, d);
            if (project) y = mn_tet_surface_project(edit->surface, v, y);
            const double risen = worst_at(s, y);
            // At least a tenth of what the slope promises, so that steps do not dwindle.
            if (risen > *worst + 0.1 * fmin(reach * mn_norm2(d), 1) && risen > *worst + 1e-5) {
                rose = true;
                x = y, *worst = risen;
            }
        }
        if (!rose) break;
    }
    return x;
}

mn_vec3 mn_tet_edit_best_place(mn_tet_edit *edit, int32_t v, mn_vec3 x)
{
    star s = {.count = 0};
    double first, worst;
    for (int64_t i = 0; i < edit->fresh.count && s.count < MN_TET_STAR_MAX; i++) {
        const int32_t *tet = edit->fresh.data[i].v;
        for (int32_t k = 0; k < 4; k++) {
            if (tet[k] != v) continue;
            for (int32_t j = 0; j < 3; j++)
                s.face[s.count][j] = edit->mesh->position[tet[mn_tet_face_corners[k][j]]];
            s.count++;
        }
    }
    return s.count ? climb(edit, &s, v, x, false, NULL, &first, &worst) : x;
}

mn_status mn_tet_smooth_vertex(mn_tet_edit *edit, int32_t v, double gain, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    const bool boundary = mn_tet_vertex_on_boundary(mesh, v);
    const mn_tet_feature feature = edit->surface ? mn_tet_surface_feature(edit->surface, v) : MN_TET_CORNER;
    star s;
    *done = false;
    if ((mesh->vertex_flags[v] & MN_TET_FIXED) ||
        (boundary && feature != MN_TET_SMOOTH && feature != MN_TET_CURVE))
        return MN_OK;
    if (!collect_star(mesh, v, &s)) return MN_OK;
    for (int32_t i = 0; i < s.count; i++)
        if (!mn_tet_edit_may_mix(edit, s.tet[0], s.tet[i])) return MN_OK;
    const mn_vec3 normal = boundary ? boundary_normal(mesh, v) : mn_v3(0, 0, 0);
    double first = 0, worst = 0;
    const mn_vec3 x = climb(edit, &s, v, mesh->position[v], boundary,
                            boundary && feature == MN_TET_SMOOTH ? &normal : NULL, &first, &worst);
    if (!(worst > first + gain) || !all_positive(&s, x)) return MN_OK;
    if (boundary && !mn_tet_normals_stay(mesh, v, -1, -1, x)) return MN_OK;
    MN_TRY(mn_array_resize(mesh->ctx, &edit->touched, s.count));
    memcpy(edit->touched.data, s.tet, sizeof *s.tet * (size_t)s.count);
    if (mesh->field_count > 0) carry_fields(mesh, v, &s, x);
    mn_tet_mesh_move_vertex(mesh, v, x);
    edit->worst = worst;
    *done = true;
    return MN_OK;
}
