// SPDX-License-Identifier: Apache-2.0
//
// Where a neck is about to come apart [clausen2013] 7.1: at the surface, where one curvature is not positive
// and the other high, at a waist that gets longer, when the stress that the section carries is above a
// threshold,
//
//   force/area > split_threshold sigma/size,       for a thread: radius < size/split_threshold.
//
// The paper takes the stress of single elements. Here planes are tried around each candidate, and what the
// narrowest carries as a whole decides (section.c): a neck that has just been made by merging gets shorter,
// and is left alone. A neck too thin for the mesh is cut whatever it carries.
#include "tet/neck.h"
#include "base/elementary.h"
#include "tet/solid_steps.h"

#include <stdlib.h>

static const double patch_radius = 3; // of the size
static const double apart = 4;        // of the size: necks that are cut at once
static const double too_thin = 0.2;   // of the size: radius that no mesh of this size can carry
static const double pi = MN_PI;

/// A boundary face of high curvature.
typedef struct candidate {
    double bent;    ///< larger curvature, 1/size
    int32_t tet;    ///< behind the face
    mn_vec3 axis;   ///< direction of the smaller curvature
    mn_vec3 inside; ///< near the axis of the neck, m
} candidate;
typedef MN_ARRAY(candidate) candidates;

static int by_bend(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->bent != q->bent) return p->bent < q->bent ? 1 : -1;
    return (p->tet > q->tet) - (p->tet < q->tet);
}

// ---- curvature ----

static mn_status find_normals(const mn_tet_liquid *liquid, mn_tet_vectors *normals)
{
    const mn_vec3 *x = liquid->mesh->position;
    MN_TRY(mn_array_resize(liquid->ctx, normals, liquid->mesh->vertex_slots));
    for (int64_t i = 0; i < normals->count; i++) normals->data[i] = mn_v3(0, 0, 0);
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *v = liquid->system.face.data + 3 * (int64_t)f;
        const mn_vec3 n = mn_normalize(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
        for (int k = 0; k < 3; k++) {
            // By the angle at the vertex, so that how the surface is cut into triangles does not matter.
            const mn_vec3 a = mn_normalize(mn_sub(x[v[(k + 1) % 3]], x[v[k]])),
                          b = mn_normalize(mn_sub(x[v[(k + 2) % 3]], x[v[k]]));
            const double angle = mn_acos(fmin(1, fmax(-1, mn_dot(a, b))));
            normals->data[v[k]] = mn_axpy(normals->data[v[k]], angle, n);
        }
    }
    for (int64_t i = 0; i < normals->count; i++) normals->data[i] = mn_normalize(normals->data[i]);
    return MN_OK;
}

// II e = dn along the three edges by least squares [rusinkiewicz2004]; its eigenvalues, and the direction of
// the smaller one. False for a flat face.
static bool bend_of_face(const mn_vec3 x[3], const mn_vec3 n[3], double *larger, double *smaller,
                         mn_vec3 *axis)
{
    const mn_vec3 normal = mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]));
    if (!(mn_norm2(normal) > 0)) return false;
    mn_vec3 u, v;
    mn_frame(mn_normalize(normal), &u, &v);
    // Unknowns a, b, c of II = (a b; b c); rows a e1 + b e2 = d1, b e1 + c e2 = d2.
    double m11 = 0, m12 = 0, m22 = 0, r1 = 0, r2 = 0, r3 = 0;
    for (int i = 0; i < 3; i++) {
        const mn_vec3 e = mn_sub(x[(i + 1) % 3], x[i]), d = mn_sub(n[(i + 1) % 3], n[i]);
        const double e1 = mn_dot(e, u), e2 = mn_dot(e, v), d1 = mn_dot(d, u), d2 = mn_dot(d, v);
        m11 += e1 * e1, m12 += e1 * e2, m22 += e2 * e2;
        r1 += e1 * d1, r2 += e2 * d1 + e1 * d2, r3 += e2 * d2;
    }
    const mn_mat3 m = {{{m11, m12, 0}, {m12, m11 + m22, m12}, {0, m12, m22}}};
    mn_mat3 inverse;
    if (!mn_m3_inverse(m, &inverse)) return false;
    const mn_vec3 s = mn_m3_apply(inverse, mn_v3(r1, r2, r3));
    const double mean = 0.5 * (s.x + s.z), spread = mn_hypot(0.5 * (s.x - s.z), s.y);
    *larger = mean + spread, *smaller = mean - spread;
    const double turn = 0.5 * mn_atan2(2 * s.y, s.x - s.z); // of the direction of the larger one
    *axis = mn_add(mn_scale(-mn_sin(turn), u), mn_scale(mn_cos(turn), v));
    return isfinite(spread);
}

static mn_status list_candidates(const mn_tet_liquid *liquid, const mn_tet_vectors *normals, candidates *list)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const double enough = 0.6 * liquid->def.split_threshold;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            if (mesh->mate[t][k] >= 0 || mn_tet_liquid_is_solid(liquid, t)) continue;
            candidate c = {.tet = t};
            mn_vec3 x[3], n[3];
            double smaller;
            for (int i = 0; i < 3; i++) {
                const int32_t v = mesh->tet[t][mn_tet_face_corners[k][i]];
                x[i] = mn_scale(1 / liquid->size, mesh->position[v]), n[i] = normals->data[v];
            }
            if (!bend_of_face(x, n, &c.bent, &smaller, &c.axis)) continue;
            if (!(c.bent > enough) || !(smaller < 0.3 * c.bent)) continue;
            const mn_vec3 out = mn_normalize(mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0])));
            const mn_vec3 middle = mn_scale(1.0 / 3, mn_add(x[0], mn_add(x[1], x[2])));
            c.inside = mn_scale(liquid->size, mn_axpy(middle, -1 / c.bent, out));
            MN_TRY(mn_array_push(liquid->ctx, list, &c));
        }
    if (list->count > 0) qsort(list->data, (size_t)list->count, sizeof *list->data, by_bend);
    return MN_OK;
}

// ---- the narrowest plane ----

static bool smaller_section(const mn_tet_section *a, const mn_tet_section *b)
{
    return a->closed && a->area > 0 && (!b->closed || a->area < b->area);
}

// Moves the plane along its normal, up to a size each way, to the waist. False when there is none: the
// smallest section is at an end, or a side is missing, as at a tip.
static mn_status move_to_waist(mn_tet_patch *patch, mn_tet_neck *neck, mn_tet_section *best, bool *waist)
{
    enum { STEPS = 4 };
    const mn_vec3 start = neck->point;
    int at = 0;
    for (int i = -STEPS; i <= STEPS; i++) {
        mn_tet_section section;
        const mn_vec3 point = mn_axpy(start, patch->liquid->size * i / STEPS, neck->normal);
        MN_TRY(mn_tet_patch_cut(patch, point, neck->normal, &section));
        *waist = section.area > 0;
        if (!*waist) return MN_OK;
        if (smaller_section(&section, best)) *best = section, at = i;
    }
    *waist = abs(at) < STEPS;
    neck->point = best->center;
    return MN_OK;
}

// Turns the plane to stand on the line through the middles of the sections on both sides.
static mn_status turn_to_line(mn_tet_patch *patch, mn_tet_neck *neck, mn_tet_section *best)
{
    const double step = 0.6 * patch->liquid->size;
    for (int round = 0; round < 2; round++) {
        mn_tet_section above, below;
        MN_TRY(mn_tet_patch_cut(patch, mn_axpy(neck->point, step, neck->normal), neck->normal, &above));
        MN_TRY(mn_tet_patch_cut(patch, mn_axpy(neck->point, -step, neck->normal), neck->normal, &below));
        const mn_vec3 line = mn_sub(above.center, below.center);
        if (!above.closed || !below.closed || !(mn_dot(line, neck->normal) > 0)) return MN_OK;
        neck->normal = mn_normalize(line);
    }
    return mn_tet_patch_cut(patch, neck->point, neck->normal, best);
}

static bool breaks(const mn_tet_liquid *liquid, const mn_tet_section *s)
{
    const double radius = sqrt(s->area / pi);
    const bool round = s->perimeter * s->perimeter < 3 * 4 * pi * s->area; // a sheet is no neck
    const bool loaded =
        s->force * liquid->size > liquid->def.split_threshold * mn_tet_liquid_tension(liquid) * s->area;
    return s->closed && !s->wetted && round && s->rate > 0 &&
           ((mn_tet_liquid_tension(liquid) > 0 && loaded) || radius < too_thin * liquid->size);
}

static mn_status try_candidate(mn_tet_patch *patch, const candidate *c, mn_tet_neck *neck, bool *found)
{
    const mn_tet_liquid *liquid = patch->liquid;
    const double widest = 1.5 * liquid->size / liquid->def.split_threshold;
    mn_tet_section best;
    *found = false;
    *neck = (mn_tet_neck){c->inside, c->axis, 0};
    MN_TRY(mn_tet_patch_gather(patch, c->tet, patch_radius * liquid->size));
    MN_TRY(mn_tet_patch_cut(patch, neck->point, neck->normal, &best));
    // The face may lie on the flank of the neck, and its axis along the flank: turn, go to the waist, again.
    for (int round = 0; round < 3; round++) {
        const double area = pi * widest * widest * (round < 2 ? 16 : 2);
        *found = best.closed && best.area > 0 && best.area < area;
        if (!*found) return MN_OK;
        neck->point = best.center;
        MN_TRY(turn_to_line(patch, neck, &best));
        MN_TRY(move_to_waist(patch, neck, &best, found));
    }
    neck->area = best.area;
    *found = *found && breaks(liquid, &best);
    return MN_OK;
}

static int by_area(const void *a, const void *b)
{
    const mn_tet_neck *p = a, *q = b;
    return (p->area > q->area) - (p->area < q->area);
}

static void keep_apart(const mn_tet_liquid *liquid, mn_tet_necks *necks)
{
    int64_t kept = 0;
    if (necks->count > 0) qsort(necks->data, (size_t)necks->count, sizeof *necks->data, by_area);
    for (int64_t i = 0; i < necks->count; i++) {
        bool near = false;
        for (int64_t j = 0; j < kept && !near; j++)
            near = mn_distance(necks->data[i].point, necks->data[j].point) < apart * liquid->size;
        if (!near) necks->data[kept++] = necks->data[i];
    }
    necks->count = kept;
}

static mn_status try_all(const mn_tet_liquid *liquid, const candidates *list, mn_tet_necks *necks)
{
    mn_tet_patch patch;
    mn_tet_vectors tried = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_tet_patch_begin(&patch, liquid));
    for (int64_t i = 0; i < list->count; i++) {
        // Faces around one neck all lead to the same planes.
        bool near = false, found;
        for (int64_t j = 0; j < tried.count && !near; j++)
            near = mn_distance(tried.data[j], list->data[i].inside) < 0.7 * liquid->size;
        if (near) continue;
        mn_tet_neck neck;
        MN_TRY_TO(done, status, mn_array_push(liquid->ctx, &tried, &list->data[i].inside));
        MN_TRY_TO(done, status, try_candidate(&patch, &list->data[i], &neck, &found));
        if (found) MN_TRY_TO(done, status, mn_array_push(liquid->ctx, necks, &neck));
    }
    keep_apart(liquid, necks);
done:
    mn_array_free(liquid->ctx, &tried);
    mn_tet_patch_free(&patch);
    return status;
}

mn_status mn_tet_liquid_find_necks(mn_tet_liquid *liquid, mn_tet_necks *necks)
{
    candidates list = {0};
    mn_status status = MN_OK;
    necks->count = 0;
    if (!(liquid->def.split_threshold > 0)) return MN_OK;
    MN_TRY_TO(done, status, find_normals(liquid, &liquid->neck_normals));
    MN_TRY_TO(done, status, list_candidates(liquid, &liquid->neck_normals, &list));
    if (list.count > 0) status = try_all(liquid, &list, necks);
done:
    mn_array_free(liquid->ctx, &list);
    return status;
}
