// SPDX-License-Identifier: Apache-2.0
//
// Remeshing of volumes: their tetrahedra become a mesh of core/tetmesh, are repaired there by its local
// operations, and come back.
//
//   - Vertices with films, threads or wires stay, and so do edges between them: films find theirs again.
//   - Velocity, pressure and how far a tetrahedron is from its soft volume go by overlaps (resample.c).
//   - The mass of a tetrahedron is that of its volume, scaled so that every body keeps its own; node volumes
//     were exact to 1e-7 before, so this moves next to nothing.
//   - Every body keeps its momentum by one velocity that is added to all of it, and where nothing pins it its
//     centre of mass by one displacement.
//   - Volumes that overlap are united first (tetmesh/unite): jets that collide, drops that meet, a body that
//     folds onto itself. What was covered twice has the mass of both and room for one; pressure makes the
//     room in the steps after it.
//   - Faces of the new surface face the gas that faces of the old one did: what is the same face knows, the
//     others learn it around their edges, where a region is entered as often as it is left, and where nobody
//     there knows, from the nearest face of the old surface. Where that contradicts films, nothing changes.
//
// All of it is one move of the complex: it is undone when memory runs out.
#include "film/film_state.h"

#include "base/union_find.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"
#include "tetmesh/unite/merge.h"

#include <stdlib.h>
#include <string.h>

static const double QUALITY = 0.35;                  // that repair aims at
static const double SHORTEST = 0.5, LONGEST = 1.7;   // edges, of the size
static const double SLACK = 0.7, SLACK_LENGTH = 1.1; // repair starts where it is worse than that by this
static const double DESPERATE = 0.05;                // quality below which sharp edges are given up
enum { UNKNOWN = -1, SUMS = 9 };

/// Connected volumes, each at the lowest of its vertices.
typedef struct bodies {
    MN_ARRAY(int32_t) parent;
    MN_ARRAY(double)
    sum; ///< SUMS a vertex: mass of tetrahedra, momentum, mass, mass times place, pinned vertices
} bodies;

/// What a face of the surface faced before.
typedef struct facing {
    mn_vec3 place;
    int64_t region;
} facing;

typedef struct remeshing {
    mn_film *film;
    mn_tet_mesh *before, *mesh;
    bool overlap;                  ///< volumes do
    bool united;                   ///< they came together
    MN_ARRAY(int32_t) old, vertex; ///< vertices of the complex, by vertices of the mesh before and after
    bodies was, is;
    MN_ARRAY(int32_t) face;  ///< boundary faces of the mesh: vertices of the complex
    MN_ARRAY(int32_t) label; ///< what they face
    MN_ARRAY(facing) faced;  ///< faces before
} remeshing;

// ---- whether ----

static void find_worst(const mn_complex *c, double *quality, double *shortest, double *longest)
{
    *quality = *shortest = INFINITY, *longest = 0;
    for (int64_t t = 0; t < c->tets.count; t++) {
        if (c->tets.data[t].v[0] < 0) continue;
        mn_vec3 x[4];
        for (int k = 0; k < 4; k++) x[k] = mn_complex_position(c, c->tets.data[t].v[k]);
        *quality = fmin(*quality, mn_tet_quality(x[0], x[1], x[2], x[3]));
        for (int e = 0; e < 6; e++) {
            const double l = mn_distance(x[mn_tet_edge_corners[e][0]], x[mn_tet_edge_corners[e][1]]);
            *shortest = fmin(*shortest, l), *longest = fmax(*longest, l);
        }
    }
}

static bool needs_repair(const mn_film *film)
{
    double quality, shortest, longest;
    const double size = film->def.size;
    find_worst(&film->c, &quality, &shortest, &longest);
    return quality < SLACK * fmin(QUALITY, film->bulk.left_quality) ||
           shortest * SLACK_LENGTH < fmin(SHORTEST * size, film->bulk.left_shortest) ||
           longest > SLACK_LENGTH * fmax(LONGEST * size, film->bulk.left_longest);
}

// ---- there ----

static bool carries(const mn_complex *c, int32_t v)
{
    const mn_complex_vertex *vertex = &c->vertices.data[v];
    if (mn_complex_held(c, v) || mn_complex_slides(c, v) || vertex->first_segment >= 0 || vertex->mass > 0)
        return true;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        if (mn_complex_is_film(c, at / 3)) return true;
    return false;
}

static mn_status fill_mesh(remeshing *r)
{
    const mn_complex *c = &r->film->c;
    mn_context *ctx = r->film->solver.ctx;
    MN_ARRAY(mn_vec3) x = {0};
    MN_ARRAY(int32_t) node = {0};
    MN_ARRAY(mn_tet_indices) tets = {0};
    mn_tet_field *v, *p, *soft, *mass;
    mn_status status;
    MN_TRY_TO(out, status, mn_array_resize(ctx, &node, c->vertices.count));
    for (int32_t i = 0; i < (int32_t)c->vertices.count; i++) {
        node.data[i] = (int32_t)x.count;
        if (!c->vertices.data[i].alive || !mn_complex_wet(c, i)) continue;
        MN_TRY_TO(out, status, mn_array_push(ctx, &x, &c->vertices.data[i].position));
        MN_TRY_TO(out, status, mn_array_push(ctx, &r->old, &i));
    }
    for (int64_t t = 0; t < c->tets.count; t++) {
        mn_tet_indices tet;
        for (int k = 0; k < 4; k++) tet.v[k] = node.data[c->tets.data[t].v[k]];
        MN_TRY_TO(out, status, mn_array_push(ctx, &tets, &tet));
    }
    MN_TRY_TO(
        out, status,
        mn_tet_mesh_build(ctx, x.count, x.data, tets.count, (const int32_t(*)[4])tets.data, &r->before));
    mn_tet_mesh *m = r->before;
    MN_TRY_TO(out, status, mn_tet_mesh_add_field(m, "v", MN_TET_LINEAR, 3, &v));
    MN_TRY_TO(out, status, mn_tet_mesh_add_field(m, "pressure", MN_TET_LINEAR, 1, &p));
    MN_TRY_TO(out, status, mn_tet_mesh_add_field(m, "soft", MN_TET_VALUE, 1, &soft));
    MN_TRY_TO(out, status, mn_tet_mesh_add_field(m, "mass", MN_TET_AMOUNT, 1, &mass));
    v = mn_tet_mesh_find_field(m, "v"), p = mn_tet_mesh_find_field(m, "pressure");
    soft = mn_tet_mesh_find_field(m, "soft"), mass = mn_tet_mesh_find_field(m, "mass");
    for (int32_t i = 0; i < m->vertex_slots; i++) {
        const mn_complex_vertex *vertex = &c->vertices.data[r->old.data[i]];
        memcpy(v->data + 3 * i, &vertex->velocity, sizeof vertex->velocity);
        p->data[i] = vertex->pressure;
        if (carries(c, r->old.data[i])) m->vertex_flags[i] |= MN_TET_FIXED | MN_TET_KEPT;
    }
    for (int32_t t = 0; t < m->tet_slots; t++) {
        soft->data[t] = c->tets.data[t].soft / mn_tet_mesh_tet_volume(m, t);
        mass->data[t] = c->tets.data[t].mass;
    }
out:
    mn_array_free(ctx, &x);
    mn_array_free(ctx, &node);
    mn_array_free(ctx, &tets);
    return status;
}

// Unites what overlaps in the mesh as it is.
static mn_status unite(remeshing *r)
{
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    def.velocity = "v", def.mass = "mass";
    MN_TRY(mn_tet_mesh_merge(r->before, &def, &report));
    r->united = report.merges + report.swallowed > 0;
    if (!r->united) return MN_OK;
    r->film->ledger.united += report.merges + report.swallowed;
    for (int32_t v = 0; v < r->before->vertex_slots; v++)
        if (mn_tet_vertex_alive(r->before, v) && r->before->star_first[v] < 0)
            mn_tet_mesh_remove_vertex(r->before, v);
    return mn_tet_mesh_compact(r->before, NULL, NULL);
}

static mn_status repair(remeshing *r)
{
    const double size = r->film->def.size;
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_resample_report resampled;
    const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
    def.quality = QUALITY, def.min_edge = SHORTEST * size, def.max_edge = LONGEST * size;
    MN_TRY(mn_tet_remesh(r->mesh, &def, &report));
    if (report.worst_after < DESPERATE) { // no sharp edge is worth an advance that ends
        def.feature_angle = 179, def.surface_band = 0.5;
        MN_TRY(mn_tet_remesh(r->mesh, &def, &report));
    }
    MN_TRY(mn_tet_resample(r->before, r->mesh, &names, &resampled));
    for (int32_t v = 0; v < r->mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(r->mesh, v) && r->mesh->star_first[v] < 0)
            mn_tet_mesh_remove_vertex(r->mesh, v);
    return mn_tet_mesh_compact(r->mesh, NULL, NULL);
}

// ---- and back ----

static mn_status list_facing(remeshing *r)
{
    const mn_complex *c = &r->film->c;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const mn_complex_triangle *face = &c->triangles.data[t];
        const int32_t side = mn_complex_liquid_side(face);
        if (face->v[0] < 0 || side < 0) continue;
        facing f = {.region = face->region[1 - side]};
        for (int k = 0; k < 3; k++) f.place = mn_axpy(f.place, 1.0 / 3, mn_complex_position(c, face->v[k]));
        MN_TRY(mn_array_push(r->film->solver.ctx, &r->faced, &f));
    }
    return MN_OK;
}

static mn_status add_up(const mn_film *film, bodies *b)
{
    const mn_complex *c = &film->c;
    const int64_t n = c->vertices.count;
    MN_TRY(mn_array_resize(film->solver.ctx, &b->parent, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &b->sum, SUMS * n));
    memset(b->sum.data, 0, mn_bytes(SUMS * n, sizeof(double)));
    for (int32_t v = 0; v < (int32_t)n; v++) b->parent.data[v] = v;
    for (int64_t t = 0; t < c->tets.count; t++)
        for (int k = 0; k < 3 && c->tets.data[t].v[0] >= 0; k++)
            mn_union_join(b->parent.data, c->tets.data[t].v[k], c->tets.data[t].v[k + 1]);
    for (int32_t v = 0; v < (int32_t)n; v++) {
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive || vertex->first_tet < 0) continue;
        double *s = b->sum.data + SUMS * (int64_t)mn_union_root(b->parent.data, v);
        const double m = mn_complex_inertia(vertex);
        s[0] += vertex->bulk, s[4] += m;
        s[1] += m * vertex->velocity.x, s[2] += m * vertex->velocity.y, s[3] += m * vertex->velocity.z;
        s[5] += m * vertex->position.x, s[6] += m * vertex->position.y, s[7] += m * vertex->position.z;
        s[8] += mn_complex_held(c, v) || mn_complex_slides(c, v);
    }
    return MN_OK;
}

// Old vertices are known by their ids, which were their places; new ones come into the complex.
static mn_status place_vertices(remeshing *r)
{
    mn_complex *c = &r->film->c;
    mn_tet_mesh *m = r->mesh;
    mn_context *ctx = r->film->solver.ctx;
    const mn_tet_field *v = mn_tet_mesh_find_field(m, "v");
    MN_TRY(mn_array_resize(ctx, &r->vertex, m->vertex_slots));
    for (int32_t i = 0; i < m->vertex_slots; i++) {
        const mn_complex_vertex fresh = {.wire = {-1, -1}};
        const bool known = m->vertex_id[i] < r->old.count;
        r->vertex.data[i] = known ? r->old.data[m->vertex_id[i]] : mn_complex_add_vertex(c, &fresh);
        if (r->vertex.data[i] < 0) return MN_ERROR_MEMORY;
        mn_complex_vertex *vertex = mn_complex_edit_vertex(c, r->vertex.data[i]);
        vertex->position = m->position[i];
        const mn_vec3 before = vertex->velocity;
        memcpy(&vertex->velocity, v->data + 3 * i, sizeof vertex->velocity);
        if (r->united && vertex->mass > 0) // its films keep their momentum
            vertex->velocity = mn_axpy(vertex->velocity, vertex->mass / mn_complex_inertia(vertex),
                                       mn_sub(before, vertex->velocity));
    }
    return c->broken ? MN_ERROR_MEMORY : MN_OK;
}

static mn_status list_faces(remeshing *r)
{
    const mn_complex *c = &r->film->c;
    const mn_tet_mesh *m = r->mesh;
    mn_context *ctx = r->film->solver.ctx;
    for (int32_t t = 0; t < m->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            if (m->mate[t][k] >= 0) continue;
            int32_t v[3], label = UNKNOWN;
            for (int j = 0; j < 3; j++) {
                v[j] = r->vertex.data[m->tet[t][mn_tet_face_corners[k][j]]];
                MN_TRY(mn_array_push(ctx, &r->face, &v[j]));
            }
            const int32_t same = mn_complex_find(c, v[0], v[1], v[2], -1);
            const int32_t side = same >= 0 ? mn_complex_liquid_side(&c->triangles.data[same]) : -1;
            if (side >= 0) label = c->triangles.data[same].region[1 - side];
            MN_TRY(mn_array_push(ctx, &r->label, &label));
        }
    return MN_OK;
}

// What face f, of the liquid's, faces by its edge from a to b: around an edge a region is entered as often as
// it is left, so the others tell. UNKNOWN where another one of them is not known either.
static int32_t label_by_edge(const remeshing *r, int64_t first, int64_t f, int32_t a, int32_t b)
{
    const mn_complex *c = &r->film->c;
    int32_t list[MN_COMPLEX_EDGE_MAX], region[2 * MN_COMPLEX_EDGE_MAX], times[2 * MN_COMPLEX_EDGE_MAX];
    const int32_t count = mn_complex_edge(c, a, b, list, MN_COMPLEX_EDGE_MAX);
    int32_t regions = 0, found = UNKNOWN;
    if (count > MN_COMPLEX_EDGE_MAX) return UNKNOWN;
    for (int32_t i = 0; i < 2 * count; i++) {
        const mn_complex_triangle *t = &c->triangles.data[list[i / 2]];
        const int32_t turned = t->v[(mn_complex_corner(t, a) + 1) % 3] == b ? 1 : -1;
        int32_t at = t->region[i % 2], k = 0;
        if (list[i / 2] >= first && at != MN_COMPLEX_LIQUID) {
            at = r->label.data[list[i / 2] - first];
            if (list[i / 2] - first == f) continue;
            if (at == UNKNOWN) return UNKNOWN;
        }
        while (k < regions && region[k] != at) k++;
        if (k == regions) region[regions] = at, times[regions++] = 0;
        times[k] += i % 2 == 0 ? -turned : turned;
    }
    for (int32_t k = 0; k < regions; k++)
        if (times[k] != 0) found = found == UNKNOWN && abs(times[k]) == 1 ? region[k] : MN_COMPLEX_LIQUID;
    return found == MN_COMPLEX_LIQUID ? UNKNOWN : found;
}

// What the nearest face of the surface before faced.
static int32_t label_by_place(const remeshing *r, int64_t f)
{
    mn_vec3 x = {0};
    double least = INFINITY;
    int32_t label = UNKNOWN;
    for (int k = 0; k < 3; k++)
        x = mn_axpy(x, 1.0 / 3, mn_complex_position(&r->film->c, r->face.data[3 * f + k]));
    for (int64_t i = 0; i < r->faced.count; i++) {
        const double d2 = mn_norm2(mn_sub(r->faced.data[i].place, x));
        if (d2 < least) least = d2, label = (int32_t)r->faced.data[i].region;
    }
    return label;
}

// Faces that were not there before learn what they face from what is around their edges; where nobody there
// knows, as inside of a hole that opened, the nearest face before does. The complex has the new faces
// already, from `first` on. False where nobody knows.
static bool spread_labels(remeshing *r, int64_t first)
{
    int64_t left = r->label.count;
    bool guessed = false;
    for (int64_t before = left + 1; left > 0; before = left) {
        left = 0;
        for (int64_t f = 0; f < r->label.count; f++) {
            for (int k = 0; k < 3 && r->label.data[f] == UNKNOWN; k++)
                r->label.data[f] =
                    label_by_edge(r, first, f, r->face.data[3 * f + k], r->face.data[3 * f + (k + 1) % 3]);
            left += r->label.data[f] == UNKNOWN;
        }
        if (left < before) continue;
        int64_t f = 0;
        while (r->label.data[f] != UNKNOWN) f++;
        r->label.data[f] = label_by_place(r, f);
        if (r->label.data[f] == UNKNOWN) return false;
        guessed = true;
    }
    for (int64_t f = 0; f < r->label.count; f++)
        mn_complex_set_regions(&r->film->c, (int32_t)(first + f), MN_COMPLEX_LIQUID, r->label.data[f]);
    for (int64_t i = 0; i < r->vertex.count && guessed; i++)
        if (mn_complex_check_vertex(&r->film->c, r->vertex.data[i]) != MN_OK) return false;
    return true;
}

// A film that lies in a face of the volumes that came together goes; its liquid is at its vertices.
static void swallow(mn_complex *c, int32_t t, bool *good)
{
    const mn_complex_triangle film = c->triangles.data[t];
    if (film.v[0] < 0 || mn_complex_find_tet(c, film.v[0], film.v[1], film.v[2], -1) < 0) return;
    *good = *good && film.region[0] == film.region[1];
    mn_complex_remove_triangle(c, t);
}

static mn_status put_back(remeshing *r, bool *good)
{
    mn_film *film = r->film;
    mn_complex *c = &film->c;
    const mn_tet_mesh *m = r->mesh;
    const mn_tet_field *soft = mn_tet_mesh_find_field(m, "soft"), *mass = mn_tet_mesh_find_field(m, "mass");
    const int64_t old_tets = c->tets.count, old_triangles = c->triangles.count;
    MN_TRY(place_vertices(r));
    MN_TRY(list_faces(r));
    *good = true;
    for (int32_t t = 0; t < old_tets; t++) mn_complex_remove_tet(c, t);
    for (int32_t t = 0; t < old_triangles; t++)
        if (!mn_complex_is_film(c, t)) mn_complex_remove_triangle(c, t);
    for (int32_t t = 0; t < m->tet_slots; t++) {
        int32_t v[4];
        for (int k = 0; k < 4; k++) v[k] = r->vertex.data[m->tet[t][k]];
        const double volume = mn_tet_mesh_tet_volume(m, t);
        if (mn_complex_add_tet(c, v, r->united ? mass->data[t] : film->def.density * volume,
                               soft->data[t] * volume) < 0)
            return MN_ERROR_MEMORY;
    }
    for (int32_t t = 0; t < old_triangles && r->united; t++) swallow(c, t, good);
    for (int64_t f = 0; f < r->label.count; f++)
        if (mn_complex_add_triangle(c, r->face.data[3 * f], r->face.data[3 * f + 1], r->face.data[3 * f + 2],
                                    MN_COMPLEX_LIQUID, 0) < 0)
            return MN_ERROR_MEMORY;
    *good = *good && spread_labels(r, old_triangles);
    for (int64_t i = 0; i < r->old.count && *good; i++) {
        const mn_complex_vertex *v = &c->vertices.data[r->old.data[i]];
        if (v->first_tet < 0 && v->first < 0 && v->first_segment < 0)
            mn_complex_remove_vertex(c, r->old.data[i]);
    }
    const mn_tet_field *p = mn_tet_mesh_find_field(m, "pressure"); // what lost its last tetrahedron forgot it
    for (int32_t i = 0; i < m->vertex_slots && *good; i++)
        mn_complex_edit_vertex(c, r->vertex.data[i])->pressure = p->data[i];
    return c->broken ? MN_ERROR_MEMORY : MN_OK;
}

// The body of before that a vertex of now belongs to: that of any of its vertices that was there.
static const double *body_before(const remeshing *r, const int32_t *kin, int32_t v)
{
    const int32_t then = kin[mn_union_root(r->is.parent.data, v)];
    return then >= 0 ? r->was.sum.data + SUMS * (int64_t)then : NULL;
}

// Bodies get the mass, the momentum and the centre that they had.
static mn_status keep_bodies(remeshing *r)
{
    mn_film *film = r->film;
    mn_complex *c = &film->c;
    MN_ARRAY(int32_t) kin = {0};
    mn_status status;
    MN_TRY_TO(out, status, add_up(film, &r->is));
    MN_TRY_TO(out, status, mn_array_resize(film->solver.ctx, &kin, c->vertices.count));
    memset(kin.data, 0xff, mn_bytes(kin.count, sizeof(int32_t)));
    for (int64_t i = r->old.count - 1; i >= 0; i--)
        if (mn_complex_wet(c, r->old.data[i]))
            kin.data[mn_union_root(r->is.parent.data, r->old.data[i])] =
                mn_union_root(r->was.parent.data, r->old.data[i]);
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) c->vertices.data[v].bulk = 0;
    for (int64_t t = 0; t < c->tets.count; t++) {
        mn_complex_tet *tet = &c->tets.data[t];
        if (tet->v[0] < 0) continue;
        const double *then = body_before(r, kin.data, tet->v[0]);
        const double *now = r->is.sum.data + SUMS * (int64_t)mn_union_root(r->is.parent.data, tet->v[0]);
        if (then) tet->mass *= then[0] / now[0];
        for (int k = 0; k < 4; k++) c->vertices.data[tet->v[k]].bulk += 0.25 * tet->mass;
    }
    MN_TRY_TO(out, status, add_up(film, &r->is));
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive || vertex->first_tet < 0) continue;
        const double *then = body_before(r, kin.data, v);
        const double *now = r->is.sum.data + SUMS * (int64_t)mn_union_root(r->is.parent.data, v);
        if (!then) continue;
        vertex->velocity = mn_axpy(vertex->velocity, 1 / now[4],
                                   mn_v3(then[1] - now[1], then[2] - now[2], then[3] - now[3]));
        if (now[8] == 0)
            vertex->position = mn_axpy(vertex->position, 1 / now[4],
                                       mn_v3(then[5] - now[5], then[6] - now[6], then[7] - now[7]));
    }
out:
    mn_array_free(film->solver.ctx, &kin);
    return status;
}

// Resampling leaves next to nothing to tetrahedra where there was none before, and no step moves them: what
// came together has the mass of its volume too, and its own mass and momentum in all.
static mn_status weigh_united(remeshing *r)
{
    mn_film *film = r->film;
    mn_complex *c = &film->c;
    MN_TRY(add_up(film, &r->was));
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) c->vertices.data[v].bulk = 0;
    for (int32_t t = 0; t < (int32_t)c->tets.count; t++) {
        mn_complex_tet *tet = &c->tets.data[t];
        if (tet->v[0] < 0) continue;
        tet->mass = film->def.density * mn_complex_tet_volume(c, t);
        for (int k = 0; k < 4; k++) c->vertices.data[tet->v[k]].bulk += 0.25 * tet->mass;
    }
    return MN_OK;
}

static mn_status remesh(remeshing *r, bool *good)
{
    mn_complex *c = &r->film->c;
    MN_TRY(add_up(r->film, &r->was));
    MN_TRY(list_facing(r));
    MN_TRY(fill_mesh(r));
    if (r->overlap) MN_TRY(unite(r));
    MN_TRY(mn_tet_mesh_copy(r->before, &r->mesh));
    MN_TRY(repair(r));
    mn_complex_begin(c);
    const mn_status status = put_back(r, good);
    if (status != MN_OK || !*good) {
        mn_complex_undo(c);
        return status;
    }
    mn_complex_commit(c);
    if (r->united) MN_TRY(weigh_united(r));
    return keep_bodies(r);
}

mn_status mn_film_bulk_remesh(mn_film *film, bool *changed)
{
    mn_context *ctx = film->solver.ctx;
    if (film->c.tets.count == 0) return MN_OK;
    remeshing r = {.film = film};
    if (film->def.merge) MN_TRY(mn_film_volumes_overlap(film, &r.overlap));
    if (!r.overlap && !needs_repair(film)) return MN_OK;
    bool good = false;
    MN_TRY(mn_complex_compact(&film->c));
    const mn_status status = remesh(&r, &good);
    *changed = *changed || good;
    find_worst(&film->c, &film->bulk.left_quality, &film->bulk.left_shortest, &film->bulk.left_longest);
    film->stale = true;
    mn_tet_mesh_free(r.before);
    mn_tet_mesh_free(r.mesh);
    mn_array_free(ctx, &r.old);
    mn_array_free(ctx, &r.vertex);
    mn_array_free(ctx, &r.was.parent);
    mn_array_free(ctx, &r.was.sum);
    mn_array_free(ctx, &r.is.parent);
    mn_array_free(ctx, &r.is.sum);
    mn_array_free(ctx, &r.face);
    mn_array_free(ctx, &r.label);
    mn_array_free(ctx, &r.faced);
    return status;
}
