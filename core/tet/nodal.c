// SPDX-License-Identifier: Apache-2.0
//
// Half of the elastic energy at nodes. Linear tetrahedra are too stiff in bending; energies of the mean
// deformation around nodes are too soft, and half of each is close:
//
//   F_i = sum_t V0_t s_t F_t/(4 C0_i) = sum_k x_k a_ik^T,   C0_i = sum_t V0_t/4        P_t = s_t^2 I
//   energy of node i    w (|F_i|^2/2 - det F_i),   w = G C0_i/2
//   force on node k     - sum_i w (F_i - cof F_i) a_ik
//   its derivative      sum_i w (H_i - cof'(F_i) H_i) a_ik,   H_i = sum_l du_l a_il^T
//
// for nodes whose tetrahedra are one elastic material that never flowed: only there X is one field, and F_i
// makes sense. Their tetrahedra keep 1 - (such corners)/8 of their energy. The derivative couples nodes two
// edges apart. It is never assembled: products gather H at nodes, then forces. Preconditioners take the
// tetrahedra with their whole energy, which is at most twice the sum (Jensen: C0 |F_i|^2 <= sum V0/4
// |F_t|^2). Tested: force and derivative by differences (tests/unit/tet/test_nodal.c); M3, M11.
#include "tet/nodal.h"

#include "base/parallel.h"
#include "tet/system.h"

enum { NODE_GRAIN = 512 };

void mn_tet_nodal_free(mn_context *ctx, mn_tet_nodal *nodal)
{
    mn_array_free(ctx, &nodal->weight);
    mn_array_free(ctx, &nodal->room);
    mn_array_free(ctx, &nodal->out);
    mn_array_free(ctx, &nodal->in);
    mn_array_free(ctx, &nodal->f);
    mn_array_free(ctx, &nodal->stress);
}

// ---- of a stage ----

static bool is_plain(const mn_tet_solid_shape *shape)
{
    return shape->shear > 0 && shape->stretch > 0;
}

// Whether everything around node i is one elastic material that never flowed.
static bool has_energy(const mn_tet_system *s, const mn_tet_solid_shape *shapes, const int32_t *class_of,
                       int32_t i)
{
    const int32_t begin = s->corner_start.data[i], end = s->corner_start.data[i + 1];
    for (int32_t c = begin; c < end; c++) {
        const int32_t t = s->corner.data[c] / 4;
        if (!is_plain(&shapes[t]) || class_of[t] != class_of[s->corner.data[begin] / 4]) return false;
    }
    return end > begin;
}

static void add_gradients(const mn_tet_system *s, int32_t t, const mn_tet_solid_shape *shape,
                          mn_tet_nodal *nodal)
{
    for (int i = 0; i < 4; i++) {
        const int32_t node = s->tet[t][i];
        if (!(nodal->weight.data[node] > 0)) continue;
        const double part = 0.25 * shape->volume * shape->stretch / nodal->room.data[node];
        for (int k = 0; k < 4; k++) {
            mn_vec3 *out = &nodal->out.data[s->tet_slot.data[16 * (int64_t)t + 4 * i + k]],
                    *in = &nodal->in.data[s->tet_slot.data[16 * (int64_t)t + 4 * k + i]];
            *out = mn_axpy(*out, part, shape->gradient[k]);
            *in = mn_axpy(*in, part, shape->gradient[k]);
        }
    }
}

mn_status mn_tet_nodal_fill(const mn_tet_system *s, const int32_t *class_of, mn_tet_solid_shape *shapes,
                            mn_tet_nodal *nodal)
{
    nodal->any = false;
    MN_TRY(mn_array_resize(s->ctx, &nodal->weight, s->node_count));
    MN_TRY(mn_array_resize(s->ctx, &nodal->room, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++) {
        const bool has = has_energy(s, shapes, class_of, i);
        double weight = 0, room = 0;
        for (int32_t c = s->corner_start.data[i]; has && c < s->corner_start.data[i + 1]; c++) {
            mn_tet_solid_shape *shape = &shapes[s->corner.data[c] / 4];
            shape->share -= 0.125;
            room += 0.25 * shape->volume, weight += 0.125 * shape->volume * shape->shear;
        }
        nodal->weight.data[i] = weight, nodal->room.data[i] = room;
        nodal->any = nodal->any || has;
    }
    if (!nodal->any) return MN_OK;
    MN_TRY(mn_array_resize(s->ctx, &nodal->out, s->column.count));
    MN_TRY(mn_array_resize(s->ctx, &nodal->in, s->column.count));
    MN_TRY(mn_array_resize(s->ctx, &nodal->f, s->node_count));
    MN_TRY(mn_array_resize(s->ctx, &nodal->stress, s->node_count));
    mn_fill_bytes(nodal->out.data, 0, mn_bytes(nodal->out.count, sizeof *nodal->out.data));
    mn_fill_bytes(nodal->in.data, 0, mn_bytes(nodal->in.count, sizeof *nodal->in.data));
    for (int32_t t = 0; t < s->tet_count; t++)
        if (is_plain(&shapes[t])) add_gradients(s, t, &shapes[t], nodal);
    return MN_OK;
}

double mn_tet_nodal_energy(const mn_tet_system *s, const mn_tet_solid_shape *shapes, const int32_t *class_of,
                           const mn_vec3 *x)
{
    double sum = 0;
    for (int32_t i = 0; i < s->node_count; i++) {
        mn_mat3 f = {0};
        double room = 0, weight = 0;
        if (!has_energy(s, shapes, class_of, i)) continue;
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
            const int32_t t = s->corner.data[c] / 4;
            const mn_tet_solid_shape *shape = &shapes[t];
            mn_vec3 corner[4];
            for (int k = 0; k < 4; k++) corner[k] = x[s->tet[t][k]];
            f = mn_m3_add(
                f, mn_m3_scale(0.25 * shape->volume * shape->stretch, mn_tet_deformation(shape, corner)));
            room += 0.25 * shape->volume, weight += 0.125 * shape->volume * shape->shear;
        }
        f = mn_m3_scale(1 / room, f);
        const double trace = mn_m3_trace(mn_m3_mul(f, mn_m3_transpose(f)));
        sum += weight * (0.5 * (trace - 3) - (mn_m3_determinant(f) - 1));
    }
    return sum;
}

// ---- at an iterate ----

MN_INLINE mn_vec3 row_of(const mn_mat3 *m, int i)
{
    return mn_v3(m->m[i][0], m->m[i][1], m->m[i][2]);
}

MN_INLINE void set_row(mn_mat3 *m, int i, mn_vec3 v)
{
    m->m[i][0] = v.x, m->m[i][1] = v.y, m->m[i][2] = v.z;
}

// Row k of cof F is the cross product of the other two.
static mn_mat3 cofactor(const mn_mat3 *f)
{
    mn_mat3 c;
    for (int k = 0; k < 3; k++) set_row(&c, k, mn_cross(row_of(f, (k + 1) % 3), row_of(f, (k + 2) % 3)));
    return c;
}

static mn_mat3 cofactor_change(const mn_mat3 *f, const mn_mat3 *h)
{
    mn_mat3 c;
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        set_row(&c, k, mn_add(mn_cross(row_of(h, a), row_of(f, b)), mn_cross(row_of(f, a), row_of(h, b))));
    }
    return c;
}

static mn_status measure_range(void *user, mn_range range)
{
    const mn_tet_system *s = user;
    mn_tet_nodal *nodal = s->stage->nodal;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_mat3 f = {0};
        if (!(nodal->weight.data[i] > 0)) continue;
        // The a_ik of a node add up to 0: differences lose nothing far from the origin.
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++)
            f = mn_m3_add(f,
                          mn_outer(mn_sub(s->x.data[s->column.data[c]], s->x.data[i]), nodal->out.data[c]));
        nodal->f.data[i] = f;
        nodal->stress.data[i] =
            mn_m3_scale(nodal->weight.data[i], mn_m3_add(f, mn_m3_scale(-1, cofactor(&f))));
    }
    return MN_OK;
}

mn_status mn_tet_nodal_measure(mn_tet_system *s)
{
    return mn_parallel_for(s->ctx, s->node_count, NODE_GRAIN, measure_range, s);
}

mn_vec3 mn_tet_nodal_pull(const mn_tet_system *s, int32_t k)
{
    const mn_tet_nodal *nodal = s->stage->nodal;
    mn_vec3 sum = {0};
    for (int32_t c = s->row_start.data[k]; c < s->row_start.data[k + 1]; c++) {
        const int32_t i = s->column.data[c];
        if (nodal->weight.data[i] > 0)
            sum = mn_add(sum, mn_m3_apply(nodal->stress.data[i], nodal->in.data[c]));
    }
    return sum;
}

double mn_tet_nodal_diagonal(const mn_tet_system *s, int32_t k)
{
    const mn_tet_nodal *nodal = s->stage->nodal;
    double sum = 0;
    for (int32_t c = s->row_start.data[k]; c < s->row_start.data[k + 1]; c++)
        sum += nodal->weight.data[s->column.data[c]] * mn_norm2(nodal->in.data[c]);
    return sum;
}

// ---- products ----

typedef struct product {
    mn_tet_system *system;
    const double *x;
    double *y;
} product;

static mn_vec3 free_part(const mn_tet_system *s, int64_t i, mn_vec3 v)
{
    return s->stage->freedom ? mn_m3_apply(s->stage->freedom[i], v) : v;
}

static mn_status change_range(void *user, mn_range range)
{
    const product *job = user;
    const mn_tet_system *s = job->system;
    mn_tet_nodal *nodal = s->stage->nodal;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_mat3 h = {0};
        if (!(nodal->weight.data[i] > 0)) continue;
        for (int32_t c = s->row_start.data[i]; c < s->row_start.data[i + 1]; c++) {
            const int64_t k = s->column.data[c];
            const mn_vec3 v = mn_v3(job->x[3 * k], job->x[3 * k + 1], job->x[3 * k + 2]);
            h = mn_m3_add(h, mn_outer(free_part(s, k, v), nodal->out.data[c]));
        }
        if (!s->stage->convex) h = mn_m3_add(h, mn_m3_scale(-1, cofactor_change(&nodal->f.data[i], &h)));
        nodal->stress.data[i] = mn_m3_scale(nodal->weight.data[i], h);
    }
    return MN_OK;
}

static mn_status pull_range(void *user, mn_range range)
{
    const product *job = user;
    for (int64_t k = range.begin; k < range.end; k++) {
        const mn_vec3 y = free_part(job->system, k, mn_tet_nodal_pull(job->system, (int32_t)k));
        job->y[3 * k] += y.x, job->y[3 * k + 1] += y.y, job->y[3 * k + 2] += y.z;
    }
    return MN_OK;
}

mn_status mn_tet_nodal_apply(mn_tet_system *s, const double *x, double *y)
{
    product job = {s, x, y};
    MN_TRY(mn_parallel_for(s->ctx, s->node_count, NODE_GRAIN, change_range, &job));
    return mn_parallel_for(s->ctx, s->node_count, NODE_GRAIN, pull_range, &job);
}
