// SPDX-License-Identifier: Apache-2.0
//
// The residual of a stage and its derivative.
//
//   residual   M (u - drift) + sum stress g - weight + sigma dA/dx,     C(x) - C0
//   A          M + D + sigma d2A + k/V0 g g^T + (k (V/V0 - 1) - p) d2V
//   B          dC_i/dx_j = sum over tetrahedra around both, g_j / 4
//
// Each tetrahedron is measured once; then each node gathers from its own list in a fixed order, so that the
// bits do not depend on the number of workers. The derivative of D with the place is left out: it is
// quadratic in what a stage moves.
#include "tet/system.h"

#include "base/parallel.h"
#include "tet/elements.h"

#include <string.h>

// A loop over fewer than this is over before another worker has woken up.
static const double rounding = 1e-5; // of an elastic force before it cancels, in the scale of forces
enum { TET_GRAIN = 2048, NODE_GRAIN = 256, APPLY_GRAIN = 1024 };

// ---- elements ----

static void symmetric_product(const double w[9], double factor, double pressing, double stress[6])
{
    stress[0] = 2 * factor * w[0] + pressing;
    stress[1] = 2 * factor * w[4] + pressing;
    stress[2] = 2 * factor * w[8] + pressing;
    stress[3] = factor * (w[5] + w[7]);
    stress[4] = factor * (w[2] + w[6]);
    stress[5] = factor * (w[1] + w[3]);
}

// The stress of a solid beside that of its pressure, and what it adds to the Hessian.
static void measure_elastic(const mn_tet_solid_shape *shape, const mn_vec3 x[4], mn_tet_element *e,
                            mn_tet_elastic *elastic)
{
    mn_tet_solid_state state = {0};
    *elastic = (mn_tet_elastic){0};
    if (!(shape->shear > 0) || !(e->volume > 0)) return;
    mn_tet_solid_measure(shape, x, &state);
    const double shear = shape->share * shape->shear, factor = shear * shape->volume / e->volume;
    for (int i = 0; i < 6; i++) {
        e->stress[i] += factor * state.b[i] - (i < 3 ? shear : 0);
        elastic->w[i] = state.secant * factor / e->volume * state.b[i];
    }
    elastic->turn = state.secant * shear;
    elastic->less = (1 - state.secant) * shear / (3 * shape->volume);
    elastic->flows = state.flow > 0;
    for (int i = 0; elastic->flows && i < 6; i++)
        elastic->f[i] = sqrt(shape->volume) / e->volume * state.tangent[i];
}

static void measure_element(const mn_tet_system *s, int32_t t, mn_tet_element *e)
{
    const mn_tet_stage *stage = s->stage;
    const int32_t *v = s->tet[t], *pressure = mn_tet_system_pressures_of(s, t);
    mn_vec3 x[4];
    double p = 0, w[9] = {0};
    for (int k = 0; k < 4; k++) x[k] = s->x.data[v[k]], p += 0.25 * stage->p[pressure[k]];
    e->volume = mn_tet_volume_gradient(x, e->g);
    e->mass = stage->mass[t] / 20;
    e->viscous =
        e->volume > 0 ? (stage->tet_viscosity ? stage->tet_viscosity[t] : stage->viscosity) / e->volume : 0;
    const bool solid = stage->shapes && stage->shapes[t].shear > 0;
    const double soft = solid ? stage->shapes[t].volume : stage->soft_volume[t];
    e->stiff = (solid ? stage->shapes[t].bulk : stage->stiffness) / soft;
    e->pressing = e->stiff * (e->volume - soft) - (stage->halfway ? 0 : p);
    if (e->viscous > 0)
        for (int k = 0; k < 4; k++) {
            const mn_mat3 m = mn_outer(stage->u[v[k]], e->g[k]);
            for (int i = 0; i < 9; i++) w[i] += m.m[i / 3][i % 3];
        }
    symmetric_product(w, e->viscous, e->pressing, e->stress);
    if (stage->shapes) measure_elastic(&stage->shapes[t], x, e, &s->elastic.data[t]);
}

static void measure_ends(const mn_tet_system *s, int32_t t, mn_tet_ends *ends)
{
    const mn_tet_stage *stage = s->stage;
    mn_vec3 first[4], last[4];
    for (int k = 0; k < 4; k++) {
        first[k] = stage->start[s->tet[t][k]];
        last[k] = mn_add(first[k], stage->u[s->tet[t][k]]);
    }
    mn_tet_volume_gradient(first, ends->first);
    ends->volume = mn_tet_volume_gradient(last, ends->last);
}

static double measure_range(void *user, mn_range range)
{
    mn_tet_system *s = user;
    double least = INFINITY;
    for (int64_t t = range.begin; t < range.end; t++) {
        measure_element(s, (int32_t)t, &s->elements.data[t]);
        double volume = s->elements.data[t].volume;
        if (s->stage->halfway) {
            measure_ends(s, (int32_t)t, &s->ends.data[t]);
            volume = s->ends.data[t].volume;
        }
        const double ratio = volume / s->stage->volume_before[t];
        least = ratio >= least ? least : ratio; // a NaN wins
    }
    return -least;
}

// ---- residual ----

MN_INLINE mn_vec3 apply_stress(const double s[6], mn_vec3 g)
{
    return mn_v3(s[0] * g.x + s[5] * g.y + s[4] * g.z, s[5] * g.x + s[1] * g.y + s[3] * g.z,
                 s[4] * g.x + s[3] * g.y + s[2] * g.z);
}

typedef struct residual_job {
    mn_tet_system *system;
    double *residual;
} residual_job;

MN_INLINE double face_sigma(const mn_tet_stage *stage, int32_t f)
{
    return stage->face_sigma ? stage->sigma * stage->face_sigma[f] : stage->sigma;
}

// The residual of one node; *scale is the sum of its forces' lengths.
static void gather_node(const mn_tet_system *s, int32_t i, mn_vec3 *momentum, double *volume, double *scale)
{
    const mn_tet_stage *stage = s->stage;
    mn_vec3 inertia = {0}, force = {0}, area = {0};
    double sum = 0, mass = 0;
    const mn_vec3 own = mn_sub(stage->u[i], stage->drift[i]);
    for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
        const int32_t t = s->corner.data[c] / 4, k = s->corner.data[c] % 4;
        const mn_tet_element *e = &s->elements.data[t];
        mn_vec3 all = own;
        for (int j = 0; j < 4; j++)
            all = mn_add(all, mn_sub(stage->u[s->tet[t][j]], stage->drift[s->tet[t][j]]));
        inertia = mn_axpy(inertia, e->mass, all);
        mass += 5 * e->mass;
        force = mn_add(force, apply_stress(e->stress, e->g[k]));
        if (stage->halfway) {
            const mn_tet_ends *ends = &s->ends.data[t];
            double p = 0;
            for (int j = 0; j < 4; j++) p += 0.25 * stage->p[s->tet[t][j]];
            force = mn_axpy(force, -p, ends->first[k]);
            sum += 0.25 * ends->volume;
        } else {
            sum += 0.25 * e->volume;
        }
    }
    // The parts of an elastic force cancel: what rounding leaves of them is no error.
    double cancelled = 0;
    for (int32_t c = s->corner_start.data[i]; stage->shapes && c < s->corner_start.data[i + 1]; c++) {
        const int32_t t = s->corner.data[c] / 4, k = s->corner.data[c] % 4;
        cancelled += rounding * stage->shapes[t].shear * mn_norm(s->elements.data[t].g[k]);
    }
    for (int32_t c = s->face_start.data[i]; c < s->face_start.data[i + 1]; c++) {
        const int32_t f = s->face_corner.data[c] / 3, *v = s->face.data + 3 * (int64_t)f;
        const mn_triangle_shape shape =
            mn_triangle_measure(s->x.data[v[0]], s->x.data[v[1]], s->x.data[v[2]]);
        area = mn_axpy(area, face_sigma(stage, f),
                       mn_triangle_area_gradient(&shape, s->face_corner.data[c] % 3));
    }
    if (stage->nodal) force = mn_add(force, mn_tet_nodal_pull(s, i));
    if (mn_tet_stage_touches(stage)) force = mn_add(force, s->pair_pull.data[i]);
    const mn_vec3 pull = stage->field ? mn_add(stage->gravity, stage->field[i]) : stage->gravity;
    const mn_vec3 weight = mn_scale(mass, pull);
    *momentum = mn_add(inertia, mn_sub(mn_add(force, area), weight));
    *scale = mn_norm(area) + mn_norm(weight) + mn_norm(force) + mn_norm(inertia);
    if (stage->shapes) *scale += cancelled;
    if (stage->reaction) memcpy(stage->reaction + 3 * (int64_t)i, momentum, sizeof *momentum);
    if (stage->drag) {
        *momentum = mn_sub(*momentum, stage->push[i]);
        *momentum = mn_axpy(*momentum, stage->drag[i], mn_sub(stage->u[i], stage->solid[i]));
    }
    if (stage->freedom) *momentum = mn_m3_apply(stage->freedom[i], *momentum);
    if (!s->phases.split) *volume = sum - stage->node_volume[i];
    if (!s->phases.split && stage->compliance) *volume += stage->compliance[i] * stage->p[i];
}

// The same of each pressure where nodes have several.
static mn_status split_range(void *user, mn_range range)
{
    const residual_job *job = user;
    const mn_tet_system *s = job->system;
    const mn_tet_stage *stage = s->stage;
    for (int64_t d = range.begin; d < range.end; d++) {
        const int32_t i = s->phases.node.data[d];
        double sum = 0;
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++)
            if (s->phases.of.data[s->corner.data[c]] == d)
                sum += 0.25 * s->elements.data[s->corner.data[c] / 4].volume;
        if (stage->compliance) sum += stage->compliance[d] * stage->p[d];
        job->residual[3 * (int64_t)s->node_count + d] = sum - stage->node_volume[d];
    }
    return MN_OK;
}

static double residual_range(void *user, mn_range range)
{
    const residual_job *job = user;
    const int32_t n = job->system->node_count;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_vec3 r;
        double scale;
        // Where nodes have several pressures, their volumes come afterwards.
        gather_node(job->system, (int32_t)i, &r, &job->residual[3 * (int64_t)n + i], &scale);
        memcpy(job->residual + 3 * i, &r, sizeof r);
        most = fmax(most, scale);
    }
    return most;
}

mn_status mn_tet_system_residual(mn_tet_system *s, const mn_tet_stage *stage, double *residual)
{
    residual_job job = {s, residual};
    double least;
    s->stage = stage;
    const double part = stage->halfway ? 0.5 : 1;
    if (stage->halfway) MN_TRY(mn_array_resize(s->ctx, &s->ends, s->tet_count));
    if (stage->shapes) MN_TRY(mn_array_resize(s->ctx, &s->elastic, s->tet_count));
    for (int32_t i = 0; i < s->node_count; i++) s->x.data[i] = mn_axpy(stage->start[i], part, stage->u[i]);
    MN_TRY(mn_parallel_max(s->ctx, s->tet_count, TET_GRAIN, measure_range, s, &least));
    s->min_volume = -least;
    if (stage->nodal) MN_TRY(mn_tet_nodal_measure(s));
    if (mn_tet_stage_touches(stage)) MN_TRY(mn_tet_pairs_measure(s));
    MN_TRY(mn_parallel_max(s->ctx, s->node_count, NODE_GRAIN, residual_range, &job, &s->force_scale));
    if (!s->phases.split) return MN_OK;
    return mn_parallel_for(s->ctx, s->phases.count, NODE_GRAIN, split_range, &job);
}

void mn_tet_system_node_volumes(const mn_tet_system *s, const mn_vec3 *x, double *volumes)
{
    memset(volumes, 0, mn_bytes(mn_tet_system_pressures(s), sizeof *volumes));
    for (int32_t t = 0; t < s->tet_count; t++) {
        const int32_t *v = s->tet[t], *pressure = mn_tet_system_pressures_of(s, t);
        const double quarter = 0.25 * mn_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        for (int k = 0; k < 4; k++) volumes[pressure[k]] += quarter;
    }
}

// ---- blocks ----

MN_INLINE void add_outer(double a[9], double factor, mn_vec3 p, mn_vec3 q)
{
    const double l[3] = {factor * p.x, factor * p.y, factor * p.z}, r[3] = {q.x, q.y, q.z};
    for (int i = 0; i < 9; i++) a[i] += l[i / 3] * r[i % 3];
}

// `part` is how far places go with u where forces act.
MN_INLINE void add_tet_pair(const mn_tet_element *e, const mn_tet_elastic *elastic, const mn_tet_ends *ends,
                            int k, int j, mn_vec3 curl, bool convex, bool even, mn_tet_block *block)
{
    const double part = ends ? 0.5 : 1;
    double same = e->mass * (k == j ? 2 : 1) + e->viscous * mn_dot(e->g[k], e->g[j]);
    double *a = block->a;
    if (elastic) same += mn_dot(e->g[k], apply_stress(elastic->w, e->g[j]));
    a[0] += same, a[4] += same, a[8] += same;
    add_outer(a, e->viscous, e->g[j], e->g[k]);
    add_outer(a, part * e->stiff, e->g[k], e->g[j]);
    if (!convex && elastic && elastic->less > 0) add_outer(a, -elastic->less, e->g[k], e->g[j]);
    if (!convex && elastic && elastic->flows)
        add_outer(a, -1, apply_stress(elastic->f, e->g[k]), apply_stress(elastic->f, e->g[j]));
    if (!convex) {
        const mn_vec3 w = mn_scale(part * (elastic ? e->pressing - elastic->turn : e->pressing), curl);
        a[1] -= w.z, a[2] += w.y, a[3] += w.z, a[5] -= w.x, a[6] -= w.y, a[7] += w.x;
    }
    const double *gk = ends ? &ends->first[k].x : &e->g[k].x,
                 *gj = ends ? (even ? &ends->first[j].x : &ends->last[j].x) : &e->g[j].x;
    for (int i = 0; i < 3; i++) block->b[i] += 0.25 * gj[i], block->bt[i] += 0.25 * gk[i];
}

static void assemble_row(const mn_tet_system *s, int32_t i)
{
    const mn_tet_stage *stage = s->stage;
    const double part = stage->halfway ? 0.5 : 1;
    const int32_t begin = s->row_start.data[i], end = s->row_start.data[i + 1];
    memset(s->blocks.data + begin, 0, mn_bytes(end - begin, sizeof *s->blocks.data));
    for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
        const int32_t t = s->corner.data[c] / 4, k = s->corner.data[c] % 4;
        const int32_t *slot = s->tet_slot.data + 16 * (int64_t)t + 4 * k;
        mn_vec3 x[4];
        for (int j = 0; j < 4; j++) x[j] = s->x.data[s->tet[t][j]];
        for (int j = 0; j < 4; j++) {
            const mn_vec3 curl = j == k ? mn_v3(0, 0, 0) : mn_tet_volume_curl(x, k, j);
            add_tet_pair(&s->elements.data[t], stage->shapes ? &s->elastic.data[t] : NULL,
                         stage->halfway ? &s->ends.data[t] : NULL, k, j, curl, stage->convex, s->even,
                         &s->blocks.data[slot[j]]);
        }
    }
    for (int32_t c = s->face_start.data[i]; c < s->face_start.data[i + 1]; c++) {
        const int32_t f = s->face_corner.data[c] / 3, k = s->face_corner.data[c] % 3;
        const int32_t *v = s->face.data + 3 * (int64_t)f, *slot = s->face_slot.data + 9 * (int64_t)f + 3 * k;
        const mn_triangle_shape shape =
            mn_triangle_measure(s->x.data[v[0]], s->x.data[v[1]], s->x.data[v[2]]);
        const double sigma = face_sigma(stage, f);
        // A wetted face may have a negative energy, which has no positive part to keep.
        if (stage->convex && !(sigma > 0)) continue;
        for (int j = 0; j < 3; j++)
            mn_triangle_add_hessian(&shape, k, j, stage->convex, part * sigma, s->blocks.data[slot[j]].a);
    }
    if (stage->drag) {
        double *own = s->blocks.data[s->diagonal.data[i]].a;
        own[0] += stage->drag[i], own[4] += stage->drag[i], own[8] += stage->drag[i];
    }
}

static mn_mat3 load3(const double a[9])
{
    mn_mat3 m;
    memcpy(m.m, a, sizeof m.m);
    return m;
}

// Rows and columns of directions in which a node may not go are emptied; its own get the size of the rest.
static void constrain_row(const mn_tet_system *s, int32_t i)
{
    const mn_mat3 *freedom = s->stage->freedom, own = freedom[i];
    for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
        mn_tet_block *block = &s->blocks.data[c];
        const mn_mat3 other = freedom[s->column.data[c]];
        const mn_mat3 full = load3(block->a);
        mn_mat3 m = mn_m3_mul(own, mn_m3_mul(full, other));
        if (c == s->diagonal.data[i])
            m = mn_m3_add(
                m, mn_m3_scale(mn_m3_trace(full) / 3, mn_m3_add(mn_m3_identity(), mn_m3_scale(-1, own))));
        memcpy(block->a, m.m, sizeof m.m);
        const mn_vec3 b = mn_m3_apply(other, mn_v3(block->b[0], block->b[1], block->b[2]));
        const mn_vec3 bt = mn_m3_apply(own, mn_v3(block->bt[0], block->bt[1], block->bt[2]));
        memcpy(block->b, &b, sizeof b);
        memcpy(block->bt, &bt, sizeof bt);
    }
}

static mn_status assemble_range(void *user, mn_range range)
{
    const mn_tet_system *s = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        assemble_row(s, (int32_t)i);
        if (s->stage->freedom) constrain_row(s, (int32_t)i);
    }
    return MN_OK;
}

// dC/dx of each pressure where nodes have several.
static mn_status split_rows(void *user, mn_range range)
{
    mn_tet_system *s = user;
    mn_tet_phases *phases = &s->phases;
    for (int64_t d = range.begin; d < range.end; d++) {
        const int32_t i = phases->node.data[d];
        for (int32_t c = phases->row_start.data[d]; c < phases->row_start.data[d + 1]; c++)
            phases->b.data[c] = mn_v3(0, 0, 0);
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
            const int32_t code = s->corner.data[c];
            if (phases->of.data[code] != d) continue;
            for (int j = 0; j < 4; j++) {
                mn_vec3 *b = &phases->b.data[phases->slot.data[4 * (int64_t)code + j]];
                *b = mn_axpy(*b, 0.25, s->elements.data[code / 4].g[j]);
            }
        }
        for (int32_t c = phases->row_start.data[d]; s->stage->freedom && c < phases->row_start.data[d + 1];
             c++)
            phases->b.data[c] = mn_m3_apply(s->stage->freedom[phases->column.data[c]], phases->b.data[c]);
    }
    return MN_OK;
}

mn_status mn_tet_system_assemble(mn_tet_system *s)
{
    MN_TRY(mn_parallel_for(s->ctx, s->node_count, NODE_GRAIN, assemble_range, s));
    if (!s->phases.split) return MN_OK;
    return mn_parallel_for(s->ctx, s->phases.count, NODE_GRAIN, split_rows, s);
}

// ---- product ----

typedef struct product {
    const mn_tet_system *system;
    const double *x;
    double *y;
} product;

MN_MULTIVERSION
static mn_status apply_range(void *user, mn_range range)
{
    const product *p = user;
    const mn_tet_system *s = p->system;
    const int64_t n = s->node_count;
    const double *v = p->x, *q = p->x + 3 * n;
    for (int64_t i = range.begin; i < range.end; i++) {
        double y0 = 0, y1 = 0, y2 = 0, y3 = 0;
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
            const mn_tet_block *k = &s->blocks.data[c];
            const int64_t j = s->column.data[c];
            const double x0 = v[3 * j], x1 = v[3 * j + 1], x2 = v[3 * j + 2], pressure = q[j];
            y0 += k->a[0] * x0 + k->a[1] * x1 + k->a[2] * x2 - k->bt[0] * pressure;
            y1 += k->a[3] * x0 + k->a[4] * x1 + k->a[5] * x2 - k->bt[1] * pressure;
            y2 += k->a[6] * x0 + k->a[7] * x1 + k->a[8] * x2 - k->bt[2] * pressure;
            y3 -= k->b[0] * x0 + k->b[1] * x1 + k->b[2] * x2;
        }
        p->y[3 * i] = y0, p->y[3 * i + 1] = y1, p->y[3 * i + 2] = y2, p->y[3 * n + i] = y3;
    }
    return MN_OK;
}

// A x, less B^T q where nodes have several pressures.
static mn_status apply_nodes(void *user, mn_range range)
{
    const product *p = user;
    const mn_tet_system *s = p->system;
    const mn_tet_phases *phases = &s->phases;
    const double *q = p->x + 3 * (int64_t)s->node_count;
    for (int64_t i = range.begin; i < range.end; i++) {
        double y0 = 0, y1 = 0, y2 = 0;
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
            const double *a = s->blocks.data[c].a, *x = p->x + 3 * (int64_t)s->column.data[c];
            y0 += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
            y1 += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
            y2 += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
        }
        for (int32_t c = phases->node_start.data[i]; c < phases->node_start.data[i + 1]; c++) {
            const mn_vec3 b = phases->b.data[phases->node_slot.data[c]];
            const double pressure = q[phases->node_row.data[c]];
            y0 -= b.x * pressure, y1 -= b.y * pressure, y2 -= b.z * pressure;
        }
        p->y[3 * i] = y0, p->y[3 * i + 1] = y1, p->y[3 * i + 2] = y2;
    }
    return MN_OK;
}

static mn_status apply_pressures(void *user, mn_range range)
{
    const product *p = user;
    const mn_tet_system *s = p->system;
    const mn_tet_phases *phases = &s->phases;
    for (int64_t d = range.begin; d < range.end; d++) {
        double sum = 0;
        for (int32_t c = phases->row_start.data[d]; c < phases->row_start.data[d + 1]; c++) {
            const double *x = p->x + 3 * (int64_t)phases->column.data[c];
            sum += phases->b.data[c].x * x[0] + phases->b.data[c].y * x[1] + phases->b.data[c].z * x[2];
        }
        p->y[3 * (int64_t)s->node_count + d] = -sum;
    }
    return MN_OK;
}

mn_status mn_tet_system_apply(void *user, const double *x, double *y)
{
    mn_tet_system *s = user;
    product p = {s, x, y};
    if (s->phases.split) {
        MN_TRY(mn_parallel_for(s->ctx, s->node_count, APPLY_GRAIN, apply_nodes, &p));
        MN_TRY(mn_parallel_for(s->ctx, s->phases.count, APPLY_GRAIN, apply_pressures, &p));
    } else {
        MN_TRY(mn_parallel_for(s->ctx, s->node_count, APPLY_GRAIN, apply_range, &p));
    }
    if (s->stage->nodal) MN_TRY(mn_tet_nodal_apply(s, x, y));
    if (mn_tet_stage_touches(s->stage)) mn_tet_pairs_apply(s, x, y);
    const int64_t first = 3 * (int64_t)s->node_count;
    for (int32_t d = 0; s->stage->compliance && d < mn_tet_system_pressures(s); d++)
        y[first + d] -= s->stage->compliance[d] * x[first + d];
    return MN_OK;
}
