// SPDX-License-Identifier: Apache-2.0
//
// Algebraic point-set surface of a mesh's boundary vertices [guennebaud2007].
//
// Around a place, samples p_i with normals n_i and weights w_i define the algebraic sphere u_c + u_l.x + u_q
// x.x whose gradient fits the normals and which passes through the samples in the mean:
//
//   u_q = 1/2 (sum w p.n - (sum w p).(sum w n)/W) / (sum w p.p - |sum w p|^2/W)
//   u_l = (sum w n - 2 u_q sum w p) / W
//   u_c = -(u_l.sum w p + u_q sum w p.p) / W
//
// The place goes to the nearest point of that sphere; twice, since the weights move with it. Vertices on
// sharp edges (a normal cone wider than the threshold, [clausen2013]) go to the polyline of those edges;
// corners stay.
#include "tetmesh/surface_model.h"

#include "meniscus/array.h"
#include "tetmesh/edit/edit.h"

#include <string.h>

enum { NEIGHBOUR_MAX = 64 };

typedef struct sample {
    mn_vec3 position, normal;
    double spacing;     ///< mean length of its boundary edges
    int32_t begin, end; ///< neighbours
    int32_t curve[2];   ///< the next samples along the sharp edge, -1 for none
    uint8_t feature;
} sample;

struct mn_tet_surface_model {
    mn_context *ctx;
    mn_tet_surface_def def;
    MN_ARRAY(sample) samples;
    MN_ARRAY(int32_t) neighbours;
    MN_ARRAY(int32_t) home;    ///< sample of each vertex slot, -1 for interior ones
    MN_ARRAY(uint8_t) feature; ///< of each vertex slot
};

mn_vec3 mn_tet_face_normal(const mn_tet_mesh *mesh, int32_t t, int32_t face)
{
    const int32_t *corner = mn_tet_face_corners[face];
    const mn_vec3 a = mesh->position[mesh->tet[t][corner[0]]];
    return mn_scale(0.5, mn_cross(mn_sub(mesh->position[mesh->tet[t][corner[1]]], a),
                                  mn_sub(mesh->position[mesh->tet[t][corner[2]]], a)));
}

bool mn_tet_normals_stay(const mn_tet_mesh *mesh, int32_t v, int32_t skip_a, int32_t skip_b, mn_vec3 place)
{
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4;
        if (k == code % 4 || mesh->mate[t][k] >= 0) continue;
        mn_vec3 x[3];
        bool has_a = false, has_b = false;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
            has_a = has_a || u == skip_a, has_b = has_b || u == skip_b;
            x[i] = u == v ? place : mesh->position[u];
        }
        if (has_a && has_b) continue;
        const mn_vec3 after = mn_normalize(mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0])));
        if (mn_dot(after, mn_normalize(mn_tet_face_normal(mesh, t, k))) < 0.5) return false;
    }
    return true;
}

// ---- making it ----

/// One boundary edge at a vertex, with the unit normals of its two faces.
typedef struct spoke {
    int32_t end, faces;
    mn_vec3 normal[2];
} spoke;

/// The boundary edges around v and its normal, not of unit length.
static int32_t collect_spokes(const mn_tet_mesh *mesh, int32_t v, spoke spokes[NEIGHBOUR_MAX],
                              mn_vec3 *normal)
{
    int32_t count = 0;
    *normal = mn_v3(0, 0, 0);
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4;
        if (k == code % 4 || mesh->mate[t][k] >= 0) continue;
        const mn_vec3 area = mn_tet_face_normal(mesh, t, k);
        double lengths = 1;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
            if (u != v) lengths *= mn_norm2(mn_sub(mesh->position[u], mesh->position[v]));
        }
        // Weights for which the normal is exact when the vertices lie on a sphere [max1999].
        *normal = mn_axpy(*normal, 1 / lengths, area);
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
            if (u == v) continue;
            int32_t at = 0;
            while (at < count && spokes[at].end != u) at++;
            if (at == count && count == NEIGHBOUR_MAX) continue;
            if (at == count) spokes[count++] = (spoke){.end = u, .faces = 0};
            if (spokes[at].faces < 2) spokes[at].normal[spokes[at].faces] = mn_normalize(area);
            spokes[at].faces++;
        }
    }
    return count;
}

static void add_sample(mn_tet_surface_model *model, const mn_tet_mesh *mesh, int32_t v, const spoke *spokes,
                       int32_t count, mn_vec3 normal, sample *s)
{
    int32_t sharp = 0;
    *s = (sample){.position = mesh->position[v], .normal = mn_normalize(normal), .curve = {-1, -1}};
    for (int32_t i = 0; i < count; i++) {
        s->spacing += mn_distance(mesh->position[spokes[i].end], s->position) / count;
        if (spokes[i].faces != 2 ||
            mn_dot(spokes[i].normal[0], spokes[i].normal[1]) < model->def.feature_cosine) {
            if (sharp < 2) s->curve[sharp] = spokes[i].end;
            sharp++;
        }
    }
    s->feature = (uint8_t)(sharp == 0 ? MN_TET_SMOOTH : sharp == 2 ? MN_TET_CURVE : MN_TET_CORNER);
    if (mesh->vertex_flags[v] & MN_TET_FIXED) s->feature = MN_TET_CORNER;
}

static mn_status sample_boundary(mn_tet_surface_model *model, const mn_tet_mesh *mesh)
{
    spoke spokes[NEIGHBOUR_MAX];
    MN_TRY(mn_array_resize(model->ctx, &model->home, mesh->vertex_slots));
    MN_TRY(mn_array_resize(model->ctx, &model->feature, mesh->vertex_slots));
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        model->home.data[v] = -1;
        model->feature.data[v] = MN_TET_INTERIOR;
        if (!mn_tet_vertex_alive(mesh, v) || !mn_tet_vertex_on_boundary(mesh, v)) continue;
        mn_vec3 normal;
        sample s;
        const int32_t count = collect_spokes(mesh, v, spokes, &normal);
        add_sample(model, mesh, v, spokes, count, normal, &s);
        s.begin = (int32_t)model->neighbours.count;
        for (int32_t i = 0; i < count; i++)
            MN_TRY(mn_array_push(model->ctx, &model->neighbours, &spokes[i].end));
        s.end = (int32_t)model->neighbours.count;
        model->home.data[v] = (int32_t)model->samples.count;
        model->feature.data[v] = s.feature;
        MN_TRY(mn_array_push(model->ctx, &model->samples, &s));
    }
    // From vertices to samples.
    for (int64_t i = 0; i < model->neighbours.count; i++)
        model->neighbours.data[i] = model->home.data[model->neighbours.data[i]];
    for (int64_t i = 0; i < model->samples.count; i++)
        for (int32_t k = 0; k < 2; k++)
            if (model->samples.data[i].curve[k] >= 0)
                model->samples.data[i].curve[k] = model->home.data[model->samples.data[i].curve[k]];
    return MN_OK;
}

mn_status mn_tet_surface_model_create(mn_tet_mesh *mesh, mn_tet_surface_def def, mn_tet_surface_model **model)
{
    *model = NULL;
    mn_tet_surface_model *m = mn_allocate_zero(mesh->ctx, sizeof *m);
    if (!m) return MN_ERROR_MEMORY;
    m->ctx = mesh->ctx;
    m->def = def;
    const mn_status status = sample_boundary(m, mesh);
    if (status != MN_OK)
        mn_tet_surface_model_free(m);
    else
        *model = m;
    return status;
}

void mn_tet_surface_model_free(mn_tet_surface_model *model)
{
    if (!model) return;
    mn_context *ctx = model->ctx;
    mn_array_free(ctx, &model->samples);
    mn_array_free(ctx, &model->neighbours);
    mn_array_free(ctx, &model->home);
    mn_array_free(ctx, &model->feature);
    mn_release(ctx, model, sizeof *model);
}

// ---- asking it ----

mn_tet_feature mn_tet_surface_feature(const mn_tet_surface_model *model, int32_t v)
{
    return v < model->feature.count ? (mn_tet_feature)model->feature.data[v] : MN_TET_INTERIOR;
}

double mn_tet_surface_band(const mn_tet_surface_model *model)
{
    return model->def.band;
}

double mn_tet_surface_feature_cosine(const mn_tet_surface_model *model)
{
    return model->def.feature_cosine;
}

/// The nearest sample of the same kind, by walking from `at`.
static int32_t walk_home(const mn_tet_surface_model *model, int32_t at, mn_vec3 x)
{
    enum { STEPS = 32 };
    const sample *samples = model->samples.data;
    double nearest = mn_norm2(mn_sub(samples[at].position, x));
    for (int32_t step = 0; step < STEPS; step++) {
        int32_t next = at;
        for (int32_t i = samples[at].begin; i < samples[at].end; i++) {
            const int32_t n = model->neighbours.data[i];
            const double distance = mn_norm2(mn_sub(samples[n].position, x));
            if (samples[n].feature == samples[at].feature && distance < nearest) nearest = distance, next = n;
        }
        if (next == at) break;
        at = next;
    }
    return at;
}

static int32_t gather(const mn_tet_surface_model *model, int32_t home, int32_t found[NEIGHBOUR_MAX])
{
    const sample *samples = model->samples.data;
    int32_t count = 0, begin = 0;
    found[count++] = home;
    // Two rings, smooth samples that face the same way.
    for (int32_t ring = 0; ring < 2; ring++)
        for (int32_t end = count; begin < end; begin++)
            for (int32_t i = samples[found[begin]].begin;
                 i < samples[found[begin]].end && count < NEIGHBOUR_MAX; i++) {
                const int32_t n = model->neighbours.data[i];
                bool known = samples[n].feature != MN_TET_SMOOTH ||
                             mn_dot(samples[n].normal, samples[home].normal) < 0.3;
                for (int32_t j = 0; j < count && !known; j++) known = found[j] == n;
                if (!known) found[count++] = n;
            }
    return count;
}

/// One projection on the algebraic sphere fitted around x; coordinates relative to x.
static mn_vec3 project_once(const mn_tet_surface_model *model, const int32_t *found, int32_t count,
                            double radius, mn_vec3 x)
{
    double W = 0, pn = 0, pp = 0;
    mn_vec3 P = mn_v3(0, 0, 0), N = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < count; i++) {
        const sample *s = &model->samples.data[found[i]];
        const mn_vec3 p = mn_sub(s->position, x);
        const double ratio = mn_norm2(p) / (radius * radius);
        if (ratio >= 1) continue;
        const double w = (1 - ratio) * (1 - ratio) * (1 - ratio) * (1 - ratio);
        W += w, pn += w * mn_dot(p, s->normal), pp += w * mn_norm2(p);
        P = mn_axpy(P, w, p), N = mn_axpy(N, w, s->normal);
    }
    if (!(W > 0)) return x;
    const double spread = pp - mn_norm2(P) / W;
    const double uq = spread > 1e-12 * radius * radius * W ? 0.5 * (pn - mn_dot(P, N) / W) / spread : 0;
    const mn_vec3 ul = mn_scale(1 / W, mn_axpy(N, -2 * uq, P));
    const double uc = -(mn_dot(ul, P) + uq * pp) / W, slope = mn_norm2(ul);
    // Nearest zero of u_c + |u_l| s + u_q s^2 along the gradient at x, in the form that is stable for u_q ->
    // 0.
    const double root = slope - 4 * uq * uc;
    if (!(slope > 0) || root < 0) return x;
    const double length = sqrt(slope), s = -2 * uc / (length + sqrt(root));
    return fabs(s) < radius ? mn_axpy(x, s / length, ul) : x;
}

static mn_vec3 nearest_on_segment(mn_vec3 a, mn_vec3 b, mn_vec3 x)
{
    const mn_vec3 ab = mn_sub(b, a);
    const double length = mn_norm2(ab), t = length > 0 ? mn_dot(mn_sub(x, a), ab) / length : 0;
    return mn_axpy(a, fmin(fmax(t, 0), 1), ab);
}

static mn_vec3 project_on_curve(const mn_tet_surface_model *model, int32_t home, mn_vec3 x)
{
    const sample *s = &model->samples.data[home];
    mn_vec3 nearest = s->position;
    for (int32_t k = 0; k < 2; k++) {
        if (s->curve[k] < 0) continue;
        const mn_vec3 y = nearest_on_segment(s->position, model->samples.data[s->curve[k]].position, x);
        if (mn_norm2(mn_sub(y, x)) < mn_norm2(mn_sub(nearest, x))) nearest = y;
    }
    return nearest;
}

mn_vec3 mn_tet_surface_project(mn_tet_surface_model *model, int32_t v, mn_vec3 x)
{
    const mn_tet_feature feature = mn_tet_surface_feature(model, v);
    if (feature == MN_TET_INTERIOR || model->home.data[v] < 0) return x;
    if (feature == MN_TET_CORNER) return model->samples.data[model->home.data[v]].position;
    const int32_t home = model->home.data[v] = walk_home(model, model->home.data[v], x);
    if (feature == MN_TET_CURVE) return project_on_curve(model, home, x);
    int32_t found[NEIGHBOUR_MAX];
    const int32_t count = gather(model, home, found);
    const double radius = 2.5 * model->samples.data[home].spacing;
    for (int32_t i = 0; i < 2; i++) x = project_once(model, found, count, radius, x);
    return x;
}

// ---- changes ----

mn_status mn_tet_surface_adopt(mn_tet_surface_model *model, int32_t v, const int32_t *parents,
                               int32_t parent_count, bool on_sharp_edge)
{
    const int64_t known = model->home.count;
    if (v >= known) {
        MN_TRY(mn_array_resize(model->ctx, &model->home, v + 1));
        MN_TRY(mn_array_resize(model->ctx, &model->feature, v + 1));
        for (int64_t i = known; i <= v; i++)
            model->home.data[i] = -1, model->feature.data[i] = MN_TET_INTERIOR;
    }
    const mn_tet_feature wanted = on_sharp_edge ? MN_TET_CURVE : MN_TET_SMOOTH;
    int32_t home = -1;
    for (int32_t i = 0; i < parent_count; i++) {
        const int32_t candidate = parents[i] < known ? model->home.data[parents[i]] : -1;
        if (candidate >= 0 && model->samples.data[candidate].feature == wanted) home = candidate;
    }
    // Between two corners, or on a face whose corners are all sharp: nothing to slide on, so it stays.
    model->home.data[v] = home;
    model->feature.data[v] = (uint8_t)(home >= 0          ? wanted
                                       : parent_count > 0 ? MN_TET_CORNER
                                                          : MN_TET_INTERIOR);
    return MN_OK;
}

void mn_tet_surface_inherit(mn_tet_surface_model *model, int32_t kept, int32_t gone)
{
    if (gone >= model->home.count || kept >= model->home.count) return;
    if (model->feature.data[gone] > model->feature.data[kept]) {
        model->feature.data[kept] = model->feature.data[gone];
        model->home.data[kept] = model->home.data[gone];
    }
}
