// SPDX-License-Identifier: Apache-2.0
//
// Solids that break. Stress in single tetrahedra depends on the mesh, that at the tip of a crack without
// limit; the mean over the ring of a node does not, once the mesh is told apart from the material:
//
//   s         mean stress of the tetrahedra around a node, by volume
//   s_1, n    its largest principal value, and the axis of that
//   l         mean edge around the node
//   at tips of cracks   s_1 = 1.05 K_I/sqrt(2 pi l), M18: it goes on where that passes the toughness
//   elsewhere           it breaks where s_1 > strength, or where the mean plastic strain > ductility
//
// A tip is a node on an edge of the surface around which nearly all is solid. Where the limit is passed, the
// ring is cut along the plane through the node across n (tetmesh/cut): elements are divided and vertices
// doubled, nothing moves, so momentum, energy and stress stay as they are. Rings that are cut at once lie
// apart, and the step after a cut is no longer than a crack takes to the next ring, so that stress finds its
// way around the new tip before more breaks. A ring that was cut before, or that bears far more than it can,
// comes apart along the faces that lie nearest to the plane, with no new element: planes through planes make
// splinters, and these set the step. What is smaller than about eight tetrahedra flies by itself
// (small_bodies.c).
// Tested: tests/unit/tet/test_fracture.c, test_grains.c, M18.
#include "base/elementary.h"
#include "meniscus/array.h"
#include "tet/elements.h"
#include "tet/neck.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <stdlib.h>

static const double tip_factor = 1.05;    // of K_I/sqrt(2 pi l) that the ring of a tip has
static const double tip_angle = 5.2;      // rad of solid around an edge from which it is the front of a crack
static const double least_edge = 0.6;     // of the size: rings of shorter edges are not divided again
static const double least_shortest = 0.3; // of the size, the same of the shortest of them
static const double overload = 1.5;       // of what a ring bears, from which it comes apart along its faces
static const double crack_speed = 0.5;    // of the speed of shear waves
static const double snap = 0.35;          // of an edge: vertices nearer to the plane are taken as on it
static const double reach_of_crack = 2;   // edges around a node that its crack stays within
enum { APART = 3 };                       // edges between nodes whose rings are cut at once

/// A node that is about to break.
typedef struct weak_node {
    int32_t node;
    double load; ///< of what it bears
    mn_vec3 normal;
    double edge, shortest; ///< m, the mean of the edges there, and the least
} weak_node;
typedef MN_ARRAY(weak_node) weak_nodes;

bool mn_tet_solids_is_breakable(const mn_tet_liquid *liquid, int32_t t)
{
    return mn_tet_liquid_is_solid(liquid, t) &&
           mn_tet_material_breaks(&liquid->solids.materials.data[liquid->solids.material.data[t]]);
}

// ---- where ----

static mn_status find_stresses(mn_tet_liquid *liquid)
{
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->solids.stress, 6 * (int64_t)liquid->mesh->tet_slots));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        if (mn_tet_solids_is_breakable(liquid, t))
            mn_tet_solids_stress(liquid, t, liquid->solids.stress.data + 6 * (int64_t)t);
    return MN_OK;
}

// The angle between faces of tetrahedron t at its edge a-b, rad.
static double dihedral(const mn_tet_mesh *mesh, int32_t t, int32_t a, int32_t b)
{
    const mn_vec3 along = mn_sub(mesh->position[b], mesh->position[a]);
    mn_vec3 away[2];
    int count = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t v = mesh->tet[t][k];
        if (v == a || v == b) continue;
        const mn_vec3 r = mn_sub(mesh->position[v], mesh->position[a]);
        away[count++] = mn_axpy(r, -mn_dot(r, along) / mn_norm2(along), along);
    }
    return mn_atan2(mn_norm(mn_cross(away[0], away[1])), mn_dot(away[0], away[1]));
}

// Whether an edge of the surface at node i has nearly all of the space around it filled with solid.
static bool is_tip(const mn_tet_liquid *liquid, int32_t i)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    if (!mn_tet_vertex_on_boundary(mesh, i)) return false;
    MN_TET_STAR(mesh, i, code)
    for (int k = 0; k < 4; k++) {
        const int32_t t = code / 4, face = k;
        if (k == code % 4 || mesh->mate[t][face] >= 0) continue;
        for (int c = 0; c < 3; c++) {
            const int32_t j = mesh->tet[t][mn_tet_face_corners[face][c]];
            double around = 0;
            if (j == i) continue;
            MN_TET_STAR(mesh, i, other)
            if (mn_tet_corner_of(mesh, other / 4, j) >= 0 && mn_tet_liquid_is_solid(liquid, other / 4))
                around += dihedral(mesh, other / 4, i, j);
            if (around > tip_angle) return true;
        }
    }
    return false;
}

// The mean over the ring of node i of one material, and the mean length of its edges there.
typedef struct ring {
    int32_t material;
    double stress[6], strain, edge, shortest;
} ring;

static ring ring_of(const mn_tet_liquid *liquid, int32_t i)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const double *strain = mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN);
    ring r = {.material = -1, .shortest = INFINITY};
    double volumes = 0, edges = 0, least = INFINITY;
    // The material of the tetrahedron with the lowest number, which does not depend on the star's order.
    MN_TET_STAR(mesh, i, code)
    if (mn_tet_solids_is_breakable(liquid, code / 4) && code / 4 < least)
        least = code / 4, r.material = liquid->solids.material.data[code / 4];
    if (r.material < 0) return r;
    MN_TET_STAR(mesh, i, code)
    {
        const int32_t t = code / 4;
        if (!mn_tet_liquid_is_solid(liquid, t) || liquid->solids.material.data[t] != r.material) continue;
        const double volume = mn_tet_mesh_tet_volume(mesh, t);
        for (int k = 0; k < 6; k++) r.stress[k] += volume * liquid->solids.stress.data[6 * (int64_t)t + k];
        r.strain += volume * strain[t], volumes += volume;
        for (int k = 0; k < 4; k++) {
            if (mesh->tet[t][k] == i) continue;
            const double edge = mn_distance(mesh->position[mesh->tet[t][k]], mesh->position[i]);
            r.edge += edge, edges++, r.shortest = fmin(r.shortest, edge);
        }
    }
    for (int k = 0; k < 6; k++) r.stress[k] /= volumes;
    r.strain /= volumes, r.edge /= edges;
    return r;
}

// How much of what it bears node i bears; 0: it has nothing that breaks.
static double load_of(const mn_tet_liquid *liquid, int32_t i, weak_node *weak)
{
    const ring r = ring_of(liquid, i);
    if (r.material < 0) return 0;
    const mn_tet_material *m = &liquid->solids.materials.data[r.material];
    mn_vec3 values;
    mn_mat3 axes;
    mn_m3_eigen_symmetric(mn_tet_symmetric(r.stress), &values, &axes);
    *weak = (weak_node){.node = i,
                        .edge = r.edge,
                        .shortest = r.shortest,
                        .normal = mn_v3(axes.m[0][0], axes.m[1][0], axes.m[2][0])};
    if (!(values.x > 0)) return 0;
    const double tough = tip_factor * m->toughness / sqrt(2 * MN_PI * r.edge);
    const double torn = m->ductility > 0 ? r.strain / m->ductility : 0;
    weak->load = fmax(torn, m->strength > 0 ? values.x / m->strength : 0);
    // Tips are looked for where it matters: most of a surface is far from breaking.
    if (tough > 0 && (values.x > 0.5 * tough || weak->load > 1) && is_tip(liquid, i))
        weak->load = fmax(torn, values.x / tough);
    return weak->load;
}

// ---- which ----

static int by_load(const void *a, const void *b)
{
    const weak_node *p = a, *q = b;
    if (p->load != q->load) return p->load > q->load ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

// Whether a ring comes apart along its faces: where it was cut before, and where it bears far more than it
// can, so that much else breaks too. Planes there would make splinters of splinters.
static bool is_along_faces(const mn_tet_liquid *liquid, const weak_node *w)
{
    return w->edge <= least_edge * liquid->size || w->shortest <= least_shortest * liquid->size ||
           w->load > overload;
}

// Whether a crack that divides no elements has faces to follow.
static bool may_open(const mn_tet_liquid *liquid, const weak_node *w)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    bool below = false, above = false;
    if (!is_along_faces(liquid, w)) return true;
    MN_TET_STAR(mesh, w->node, code)
    {
        const double d = mn_dot(w->normal, mn_sub(mn_tet_middle(mesh, code / 4), mesh->position[w->node]));
        if (mn_tet_liquid_is_solid(liquid, code / 4)) below = below || d < 0, above = above || !(d < 0);
    }
    return below && above;
}

static mn_status find_weak(mn_tet_liquid *liquid, weak_nodes *weak)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    double *damage = mn_tet_field_numbers(liquid, MN_TET_DAMAGE);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        weak_node w;
        const double load = liquid->solids.solid_node.data[i] ? load_of(liquid, i, &w) : 0;
        if (!(load > 0)) continue;
        MN_TET_STAR(mesh, i, code)
        if (mn_tet_solids_is_breakable(liquid, code / 4))
            damage[code / 4] = fmax(damage[code / 4], fmin(load, 1));
        if (load > 1 && !mn_tet_liquid_is_grain(liquid, i) && may_open(liquid, &w))
            MN_TRY(mn_array_push(liquid->ctx, weak, &w));
    }
    if (weak->count > 1) qsort(weak->data, (size_t)weak->count, sizeof *weak->data, by_load);
    return MN_OK;
}

// Keeps the weakest of those that lie within a few edges of each other.
static mn_status thin_out(mn_tet_liquid *liquid, weak_nodes *weak)
{
    const mn_tet_system *s = &liquid->system;
    MN_ARRAY(uint8_t) near = {0};
    MN_ARRAY(int32_t) walk = {0};
    int64_t kept = 0;
    mn_status status = mn_array_resize(liquid->ctx, &near, s->node_count);
    for (int32_t i = 0; status == MN_OK && i < s->node_count; i++) near.data[i] = 0;
    for (int64_t w = 0; status == MN_OK && w < weak->count; w++) {
        const int32_t first = weak->data[w].node;
        if (near.data[first]) continue;
        weak->data[kept++] = weak->data[w];
        walk.count = 0;
        status = mn_array_push(liquid->ctx, &walk, &first);
        int64_t begin = 0;
        for (int ring = 0; ring < APART && status == MN_OK; ring++) {
            const int64_t end = walk.count;
            for (int64_t at = begin; at < end; at++)
                for (int32_t c = s->row_start.data[walk.data[at]];
                     status == MN_OK && c < s->row_start.data[walk.data[at] + 1]; c++) {
                    const int32_t j = s->column.data[c];
                    if (near.data[j]) continue;
                    near.data[j] = 1;
                    status = mn_array_push(liquid->ctx, &walk, &j);
                }
            begin = end;
        }
    }
    weak->count = kept;
    mn_array_free(liquid->ctx, &near);
    mn_array_free(liquid->ctx, &walk);
    return status;
}

// ---- the cut ----

typedef struct entry {
    const mn_tet_liquid *liquid;
    int32_t node;
} entry;

// A crack stays in the ring, and in what is solid.
static bool may_enter(void *user, const mn_tet_mesh *mesh, int32_t t)
{
    const entry *e = user;
    return mn_tet_corner_of(mesh, t, e->node) >= 0 &&
           mn_tet_mesh_find_field(mesh, MN_TET_SOLID)->data[t] > 0.5;
}

// The tetrahedron at the node that the plane divides best; -1: none.
static int32_t seed_of(const mn_tet_mesh *mesh, const weak_node *w)
{
    const double *solid = mn_tet_mesh_find_field(mesh, MN_TET_SOLID)->data;
    double best = 0;
    int32_t seed = -1;
    MN_TET_STAR(mesh, w->node, code)
    {
        const int32_t t = code / 4;
        double low = 0, high = 0;
        for (int k = 0; k < 4; k++) {
            const double d =
                mn_dot(w->normal, mn_sub(mesh->position[mesh->tet[t][k]], mesh->position[w->node]));
            low = fmin(low, d), high = fmax(high, d);
        }
        const double crossed = fmin(-low, high);
        if (solid[t] > 0.5 && (crossed > best || (crossed == best && crossed > 0 && t < seed)))
            best = crossed, seed = t;
    }
    return seed;
}

// The sides of a crack are born in one place: no barrier can hold them (solid_barrier.c).
static void mark_torn(mn_tet_mesh *mesh, mn_vec3 at, double within)
{
    double *torn = mn_tet_mesh_find_field(mesh, MN_TET_TORN)->data;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(mesh, v) && mn_distance(mesh->position[v], at) < within) torn[v] = 1;
}

static mn_status cut_rings(mn_tet_liquid *liquid, const weak_nodes *weak, mn_tet_mesh *work, int64_t *opened)
{
    for (int64_t i = 0; i < weak->count; i++) {
        mn_tet_cut_def def = mn_tet_cut_default_def();
        mn_tet_cut_report report;
        entry e = {liquid, weak->data[i].node};
        def.point = work->position[e.node], def.normal = weak->data[i].normal;
        def.seed = seed_of(work, &weak->data[i]), def.snap = snap;
        def.may_enter = may_enter, def.user = &e, def.along_faces = is_along_faces(liquid, &weak->data[i]);
        if (def.seed < 0) continue;
        MN_TRY(mn_tet_mesh_cut(work, &def, &report));
        *opened += report.split_faces;
        if (report.split_faces > 0) mark_torn(work, def.point, reach_of_crack * weak->data[i].edge);
    }
    return MN_OK;
}

static mn_status cut_copy(mn_tet_liquid *liquid, const weak_nodes *weak, mn_tet_mesh **fresh, int64_t *opened)
{
    mn_tet_mesh *work = NULL;
    mn_status status;
    *fresh = NULL, *opened = 0;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(liquid->mesh, &work));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_heat(liquid, work));
    MN_TRY_TO(done, status, cut_rings(liquid, weak, work, opened));
    if (*opened == 0) goto done;
    MN_TRY_TO(done, status, mn_tet_mesh_compact(work, NULL, NULL));
    status = mn_tet_liquid_rebuild(work, fresh);
done:
    mn_tet_mesh_free(work);
    return status;
}

// How long a crack takes through the ring of the weakest, s.
static double crack_time(const mn_tet_liquid *liquid, const weak_nodes *weak)
{
    double fastest = 0;
    for (int64_t m = 0; m < liquid->solids.materials.count; m++) {
        const mn_tet_material *material = &liquid->solids.materials.data[m];
        if (mn_tet_material_breaks(material))
            fastest = fmax(fastest, mn_tet_material_shear(material) / material->density);
    }
    return weak->data[0].edge / (crack_speed * sqrt(fastest));
}

// Takes the mesh with its cracks. Its first nodes are those of the mesh before.
static mn_status take_cracks(mn_tet_liquid *liquid, mn_tet_mesh *fresh)
{
    const int32_t bodies = liquid->bodies.count;
    const int64_t nodes = liquid->bodies.of_node.count;
    MN_ARRAY(int32_t) was = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &was, nodes));
    mn_copy_bytes(was.data, liquid->bodies.of_node.data, mn_bytes(nodes, sizeof *was.data));
    status = mn_tet_solids_take_mesh(liquid, fresh);
    fresh = NULL;
    if (status == MN_OK && liquid->bodies.count > bodies)
        status = mn_tet_solids_tear_parted(liquid, nodes, was.data);
done:
    mn_tet_mesh_free(fresh);
    mn_array_free(liquid->ctx, &was);
    return status;
}

static bool may_break(const mn_tet_liquid *liquid)
{
    bool any = false;
    for (int64_t m = 0; liquid->solids.any && m < liquid->solids.materials.count; m++)
        any = any || mn_tet_material_breaks(&liquid->solids.materials.data[m]);
    return any;
}

mn_status mn_tet_solids_break(mn_tet_liquid *liquid, double *limit)
{
    weak_nodes weak = {0};
    mn_tet_mesh *fresh = NULL;
    int64_t opened = 0;
    *limit = INFINITY;
    if (!may_break(liquid)) return MN_OK;
    mn_timer_begin(&liquid->solver.timers, "break");
    mn_status status = find_stresses(liquid);
    if (status == MN_OK) status = find_weak(liquid, &weak);
    if (status == MN_OK && weak.count > 0) status = thin_out(liquid, &weak);
    if (status == MN_OK && weak.count > 0) status = cut_copy(liquid, &weak, &fresh, &opened);
    if (status == MN_OK && fresh) {
        *limit = crack_time(liquid, &weak);
        status = take_cracks(liquid, fresh);
        liquid->last_dt = 0; // forces jump
        liquid->counts.cracks += opened;
    }
    mn_array_free(liquid->ctx, &weak);
    mn_timer_end(&liquid->solver.timers, "break");
    return status;
}
