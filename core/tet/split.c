// SPDX-License-Identifier: Apache-2.0
//
// Cuts necks [clausen2013] 7.1, and looks after what is too small for a mesh.
//
//   cut      along the plane of the neck; both ends keep their volume and momentum
//   retreat  the two flat ends draw back to round ones, or they would bulge, overlap and merge again; what
//            they held goes to the tetrahedra around
//   crumbs   a part with less volume than a tetrahedron of this size goes to what is nearest, with its
//            momentum
//
// Sums of rest volume and momentum stay to rounding through all of it.
#include "tet/neck.h"

#include "tetmesh/cut/cut.h"
#include "tetmesh/internal.h"

#include <string.h>

static const double retreat = 0.3;  // of the size, for the middle of each end
static const double rounding = 0.6; // of the way from a flat end to half a ball
static const double reach = 3.5;    // of the size, over which what they held is spread
static const double crumb = 0.1;    // of size^3; a regular tetrahedron has 0.118

// ---- the cut ----

static int32_t nearest_tet(const mn_tet_mesh *mesh, mn_vec3 place)
{
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        const double distance = mn_distance(mn_tet_middle(mesh, t), place);
        if (distance < least) best = t, least = distance;
    }
    return best;
}

// ---- the retreat ----

/// The vertices of the two ends: those that have another one at the same place.
typedef struct ends {
    mn_tet_list vertices, region;
    mn_tet_vectors places;
} ends;

static mn_status find_ends(const mn_tet_liquid *liquid, const mn_tet_neck *neck, const mn_tet_mesh *mesh,
                           ends *e)
{
    const double radius = 2 * sqrt(neck->area) + liquid->size;
    mn_tet_list near = {0};
    mn_status status = MN_OK;
    for (int32_t v = 0; v < mesh->vertex_slots && status == MN_OK; v++)
        if (mn_tet_vertex_alive(mesh, v) && mn_tet_vertex_on_boundary(mesh, v) &&
            mn_distance(mesh->position[v], neck->point) < radius)
            status = mn_array_push(mesh->ctx, &near, &v);
    for (int64_t i = 0; i < near.count && status == MN_OK; i++) {
        const mn_vec3 x = mesh->position[near.data[i]];
        bool twin = false;
        for (int64_t j = 0; j < near.count && !twin; j++)
            twin = i != j && mn_distance(x, mesh->position[near.data[j]]) == 0;
        if (!twin) continue;
        status = mn_array_push(mesh->ctx, &e->vertices, &near.data[i]);
        if (status == MN_OK) status = mn_array_push(mesh->ctx, &e->places, &x);
    }
    mn_array_free(mesh->ctx, &near);
    return status;
}

// On which side of the plane the material around v is.
static double side_of(const mn_tet_mesh *mesh, const mn_tet_neck *neck, int32_t v)
{
    double sum = 0;
    MN_TET_STAR(mesh, v, code)
    sum += mn_dot(neck->normal, mn_sub(mn_tet_middle(mesh, code / 4), mesh->position[v]));
    return sum < 0 ? -1 : 1;
}

// Whether the stars of all moved vertices keep part of their volume.
static bool fits(const mn_tet_mesh *mesh, const ends *e, double least)
{
    for (int64_t i = 0; i < e->vertices.count; i++) MN_TET_STAR(mesh, e->vertices.data[i], code)
    if (!(mn_tet_mesh_tet_volume(mesh, code / 4) > least)) return false;
    return true;
}

static void draw_back(const mn_tet_liquid *liquid, const mn_tet_neck *neck, mn_tet_mesh *mesh, const ends *e)
{
    const double least = 1e-3 * liquid->size * liquid->size * liquid->size;
    double rim = 0;
    for (int64_t i = 0; i < e->places.count; i++)
        rim = fmax(rim, mn_distance(e->places.data[i], neck->point));
    for (double part = 1; part > 0.1; part *= 0.5) {
        for (int64_t i = 0; i < e->vertices.count; i++) {
            const int32_t v = e->vertices.data[i];
            const double away = mn_distance(e->places.data[i], neck->point);
            const double round = rim - sqrt(fmax(0, rim * rim - away * away));
            const double distance =
                part * side_of(mesh, neck, v) * (retreat * liquid->size + rounding * round);
            mn_tet_mesh_move_vertex(mesh, v, mn_axpy(e->places.data[i], distance, neck->normal));
        }
        if (fits(mesh, e, least)) return;
        for (int64_t i = 0; i < e->vertices.count; i++)
            mn_tet_mesh_move_vertex(mesh, e->vertices.data[i], e->places.data[i]);
    }
}

// The tetrahedra that are connected with vertex v, near the neck and not met before.
static mn_status gather_region(const mn_tet_liquid *liquid, const mn_tet_neck *neck, mn_tet_mesh *mesh,
                               int32_t v, uint32_t mark, mn_tet_list *region)
{
    region->count = 0;
    MN_TET_STAR(mesh, v, code)
    {
        const int32_t t = code / 4;
        if (mesh->mark[t] == mark) continue;
        mesh->mark[t] = mark;
        MN_TRY(mn_array_push(mesh->ctx, region, &t));
    }
    for (int64_t i = 0; i < region->count; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[region->data[i]][k], next = mate / 4;
            if (mate < 0 || mesh->mark[next] == mark) continue;
            if (mn_distance(mn_tet_middle(mesh, next), neck->point) > reach * liquid->size) continue;
            mesh->mark[next] = mark;
            MN_TRY(mn_array_push(mesh->ctx, region, &next));
        }
    return MN_OK;
}

// rest = V times the same factor for all of a region.
static void spread_rest(mn_tet_mesh *mesh, const mn_tet_list *region)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data,
           *soft = mn_tet_mesh_find_field(mesh, MN_TET_SOFT_VOLUME)->data;
    double held = 0, volume = 0;
    for (int64_t i = 0; i < region->count; i++) {
        held += rest[region->data[i]];
        volume += mn_tet_mesh_tet_volume(mesh, region->data[i]);
    }
    for (int64_t i = 0; i < region->count; i++) {
        const int32_t t = region->data[i];
        soft[t] = mn_tet_mesh_tet_volume(mesh, t);
        rest[t] = soft[t] * held / volume;
    }
}

static mn_status pull_apart(const mn_tet_liquid *liquid, const mn_tet_neck *neck, mn_tet_mesh *mesh)
{
    ends e = {0};
    mn_status status;
    MN_TRY_TO(done, status, find_ends(liquid, neck, mesh, &e));
    draw_back(liquid, neck, mesh, &e);
    const uint32_t mark = mn_tet_mark_next(mesh);
    for (int64_t i = 0; i < e.vertices.count; i++) {
        MN_TRY_TO(done, status, gather_region(liquid, neck, mesh, e.vertices.data[i], mark, &e.region));
        if (e.region.count > 0) spread_rest(mesh, &e.region);
    }
done:
    mn_array_free(mesh->ctx, &e.vertices);
    mn_array_free(mesh->ctx, &e.region);
    mn_array_free(mesh->ctx, &e.places);
    return status;
}

mn_status mn_tet_liquid_cut_necks(mn_tet_liquid *liquid, const mn_tet_necks *necks, mn_tet_mesh *mesh)
{
    for (int64_t i = 0; i < necks->count; i++) {
        const mn_tet_neck *neck = &necks->data[i];
        mn_tet_cut_def def = mn_tet_cut_default_def();
        mn_tet_cut_report report;
        def.point = neck->point, def.normal = neck->normal, def.seed = nearest_tet(mesh, neck->point);
        MN_TRY(mn_tet_mesh_cut(mesh, &def, &report));
        MN_TRY(pull_apart(liquid, neck, mesh));
        liquid->counts.splits++;
    }
    return MN_OK;
}

// ---- crumbs ----

/// Parts of a mesh with gaps.
typedef struct parts {
    mn_tet_list root;    ///< of each vertex
    mn_tet_numbers held; ///< rest volume of each part, at its root
} parts;

static mn_status find_parts(const mn_tet_mesh *mesh, parts *p)
{
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    MN_TRY(mn_array_resize(mesh->ctx, &p->root, mesh->vertex_slots));
    MN_TRY(mn_array_resize(mesh->ctx, &p->held, mesh->vertex_slots));
    int32_t *root = p->root.data;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) root[v] = v, p->held.data[v] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 1; mn_tet_alive(mesh, t) && k < 4; k++) {
            int32_t a = mesh->tet[t][0], b = mesh->tet[t][k];
            while (root[a] != a) a = root[a] = root[root[a]];
            while (root[b] != b) b = root[b] = root[root[b]];
            root[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t v = 0; v < mesh->vertex_slots; v++) root[v] = root[root[v]];
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (mn_tet_alive(mesh, t)) p->held.data[root[mesh->tet[t][0]]] += rest[t];
    return MN_OK;
}

// The boundary vertex of a part that is no crumb nearest to x, -1 for none.
static int32_t nearest_vertex(const mn_tet_mesh *mesh, const parts *p, double least, mn_vec3 x)
{
    int32_t best = -1;
    double distance = INFINITY;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v) || !mn_tet_vertex_on_boundary(mesh, v)) continue;
        if (p->held.data[p->root.data[v]] < least) continue;
        const double d = mn_distance(x, mesh->position[v]);
        if (d < distance) best = v, distance = d;
    }
    return best;
}

static mn_vec3 mean_velocity(const mn_tet_mesh *mesh, const mn_vec3 *v, int32_t t)
{
    mn_vec3 sum = {0};
    for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25, v[mesh->tet[t][k]]);
    return sum;
}

// Gives the rest volume, momentum and heat of tetrahedron `from` to the star of vertex w: volume and heat in
// proportion, momentum through the velocity of w.
static void give(mn_tet_mesh *mesh, int32_t from, int32_t w)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    mn_vec3 *v = (mn_vec3 *)(void *)mn_tet_mesh_find_field(mesh, MN_TET_V)->data;
    const mn_tet_field *heat = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    double held = 0;
    mn_vec3 missing = mn_scale(rest[from], mean_velocity(mesh, v, from));
    MN_TET_STAR(mesh, w, code) held += rest[code / 4];
    const double gain = rest[from] / held;
    MN_TET_STAR(mesh, w, code)
    {
        missing = mn_axpy(missing, -gain * rest[code / 4], mean_velocity(mesh, v, code / 4));
        if (heat) heat->data[code / 4] += heat->data[from] * rest[code / 4] / held;
        rest[code / 4] *= 1 + gain;
    }
    v[w] = mn_axpy(v[w], 4 / (held * (1 + gain)), missing);
}

static mn_status sweep(const mn_tet_liquid *liquid, mn_tet_mesh *mesh, const parts *p, bool *swept)
{
    const double least = crumb * liquid->size * liquid->size * liquid->size;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t) || p->held.data[p->root.data[mesh->tet[t][0]]] >= least) continue;
        const int32_t w = nearest_vertex(mesh, p, least, mn_tet_middle(mesh, t));
        if (w < 0) return MN_OK; // there is nothing but crumbs
        give(mesh, t, w);
        MN_TRY(mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
        *swept = true;
    }
    return MN_OK;
}

mn_status mn_tet_liquid_sweep_crumbs(mn_tet_liquid *liquid, mn_tet_mesh *mesh, bool *swept)
{
    parts p = {0};
    mn_status status = find_parts(mesh, &p);
    *swept = false;
    if (status == MN_OK) status = sweep(liquid, mesh, &p, swept);
    mn_array_free(mesh->ctx, &p.root);
    mn_array_free(mesh->ctx, &p.held);
    return status;
}
