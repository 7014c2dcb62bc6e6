// SPDX-License-Identifier: Apache-2.0
//
// Velocities from particles to the faces of the grid and back, affine [jiang2015] with trilinear weights w:
//
//   v_f = sum_p w m_p (u_p + C_p (x_f - x_p)) / sum_p w m_p,      u_p = sum_f w v_f,   C_p = sum_f v_f grad w
//
// and with a share f of FLIP u_p + f (u_p_before - u(v_f before)): a particle keeps that much of what the
// grid cannot see of its velocity [zhu2005].
//
// each component with its own faces. Faces gather from the particles of the cells around them, which are
// sorted by cell: no scatters, the same bits for any number of workers.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 64, POINT_GRAIN = 512 };

static mn_vec3 face_position(const mn_codim_volume *v, int32_t cell, int32_t axis)
{
    return mn_sub(mn_codim_volume_cell_center(v, cell), mn_codim_volume_along(axis, 0.5 * v->set.dx));
}

static double hat(double x)
{
    return fmax(0, 1 - fabs(x));
}

// Adds what the particles of one cell give to the face at x.
static void gather_cell(const mn_codim_volume *v, int32_t cell, int32_t axis, mn_vec3 x, double *mass,
                        double *momentum)
{
    const double inverse = v->grid.table.inverse_dx;
    for (int32_t i = v->grid.sorted.cell_start[cell]; i < v->grid.sorted.cell_start[cell + 1]; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        const mn_vec3 d = mn_sub(x, p->position);
        const double w = p->mass * hat(d.x * inverse) * hat(d.y * inverse) * hat(d.z * inverse);
        *mass += w;
        *momentum += w * (mn_component(p->velocity, axis) + mn_dot(mn_m3_row(p->affine, axis), d));
    }
}

static mn_status gather_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t cell = (int32_t)i, block = cell / MN_BLOCK_CELLS, at = cell % MN_BLOCK_CELLS;
        for (int32_t axis = 0; axis < 3; axis++) {
            const mn_vec3 x = face_position(v, cell, axis);
            const int32_t top[3] = {axis != 0, axis != 1, axis != 2};
            double mass = 0, momentum = 0;
            for (int32_t a = -1; a <= top[0]; a++)
                for (int32_t b = -1; b <= top[1]; b++)
                    for (int32_t c = -1; c <= top[2]; c++) {
                        const int32_t other = mn_block_reach(&v->grid.table, block, (at >> 4) + a,
                                                             ((at >> 2) & 3) + b, (at & 3) + c);
                        if (other >= 0) gather_cell(v, other, axis, x, &mass, &momentum);
                    }
            v->grid.weight.data[3 * i + axis] = mass;
            v->grid.speed.data[3 * i + axis] = mass > 0 ? momentum / mass : 0;
        }
    }
    return MN_OK;
}

// ---- beyond the particles ----

typedef struct extend_job {
    mn_codim_volume *volume;
    uint8_t layer;
} extend_job;

static mn_status extend_range(void *user, mn_range range)
{
    const extend_job *job = user;
    mn_codim_volume *v = job->volume;
    for (int64_t f = range.begin; f < range.end; f++) {
        v->grid.newly.data[f] = 0;
        if (v->grid.known.data[f]) continue;
        double sum = 0;
        int32_t count = 0;
        for (int32_t side = 0; side < 6; side++) {
            const int32_t other = v->grid.next.data[6 * (f / 3) + side];
            if (other < 0) continue;
            const int64_t g = 3 * (int64_t)other + f % 3;
            if (!v->grid.known.data[g]) continue;
            sum += v->grid.speed.data[g];
            count++;
        }
        if (count == 0) continue;
        v->grid.weight.data[f] = sum / count; // not before all have read
        v->grid.newly.data[f] = 1;
    }
    return MN_OK;
}

mn_status mn_codim_volume_extend(mn_codim_volume *v, int32_t layers)
{
    for (int32_t layer = 0; layer < layers; layer++) {
        extend_job job = {.volume = v};
        MN_TRY(mn_parallel_for(v->ctx, 3 * (int64_t)v->grid.cells, 16 * GRAIN, extend_range, &job));
        for (int64_t f = 0; f < 3 * (int64_t)v->grid.cells; f++) {
            if (!v->grid.newly.data[f]) continue;
            v->grid.speed.data[f] = v->grid.weight.data[f];
            v->grid.known.data[f] = 1;
        }
    }
    return MN_OK;
}

mn_status mn_codim_volume_to_grid(mn_codim_volume *v)
{
    MN_TRY(mn_parallel_for(v->ctx, v->grid.cells, GRAIN, gather_range, v));
    for (int64_t f = 0; f < 3 * (int64_t)v->grid.cells; f++)
        v->grid.known.data[f] = v->grid.weight.data[f] > 0;
    return mn_codim_volume_extend(v, 2);
}

// ---- back ----

static mn_vec3 velocity_of(const mn_codim_volume *v, const double *speeds, mn_vec3 x, mn_mat3 *gradient)
{
    const double inverse = v->grid.table.inverse_dx;
    const mn_vec3 at = mn_scale(inverse, mn_sub(x, v->grid.table.origin));
    const mn_ivec3 own = mn_iv3((int32_t)floor(at.x), (int32_t)floor(at.y), (int32_t)floor(at.z));
    const mn_ivec3 block = mn_iv3(own.x >> 2, own.y >> 2, own.z >> 2);
    const int32_t number = mn_blocks_find(v->grid.blocks, block);
    double u[3] = {0};
    mn_mat3 c = {{{0}}};
    if (gradient) *gradient = c;
    if (number < 0) return mn_v3(0, 0, 0);
    for (int32_t axis = 0; axis < 3; axis++) {
        const mn_vec3 q = mn_sub(mn_add(at, mn_codim_volume_along(axis, 0.5)), mn_v3(0.5, 0.5, 0.5));
        const double low[3] = {floor(q.x), floor(q.y), floor(q.z)};
        const double t[3] = {q.x - low[0], q.y - low[1], q.z - low[2]};
        const int32_t base[3] = {(int32_t)low[0] - 4 * block.x, (int32_t)low[1] - 4 * block.y,
                                 (int32_t)low[2] - 4 * block.z};
        for (int32_t corner = 0; corner < 8; corner++) {
            const int32_t o[3] = {corner >> 2, (corner >> 1) & 1, corner & 1};
            const int32_t cell =
                mn_block_reach(&v->grid.table, number, base[0] + o[0], base[1] + o[1], base[2] + o[2]);
            if (cell < 0) continue;
            const double speed = speeds[3 * (int64_t)cell + axis];
            double w[3];
            for (int k = 0; k < 3; k++) w[k] = o[k] ? t[k] : 1 - t[k];
            u[axis] += speed * w[0] * w[1] * w[2];
            c.m[axis][0] += speed * inverse * (o[0] ? 1 : -1) * w[1] * w[2];
            c.m[axis][1] += speed * inverse * (o[1] ? 1 : -1) * w[0] * w[2];
            c.m[axis][2] += speed * inverse * (o[2] ? 1 : -1) * w[0] * w[1];
        }
    }
    if (gradient) *gradient = c;
    return mn_v3(u[0], u[1], u[2]);
}

mn_vec3 mn_codim_volume_velocity(const mn_codim_volume *v, mn_vec3 x, mn_mat3 *gradient)
{
    return velocity_of(v, v->grid.speed.data, x, gradient);
}

typedef struct carry_job {
    mn_codim_volume *volume;
    double dt;
} carry_job;

static mn_status receive_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_codim_particle *p = &v->particles.data[i];
        const mn_vec3 own = p->velocity;
        p->velocity = mn_codim_volume_velocity(v, p->position, &p->affine);
        if (v->set.flip_ratio > 0) {
            const mn_vec3 seen = velocity_of(v, v->grid.before.data, p->position, NULL);
            p->velocity = mn_axpy(p->velocity, v->set.flip_ratio, mn_sub(own, seen));
        }
    }
    return MN_OK;
}

mn_status mn_codim_volume_to_particles(mn_codim_volume *v)
{
    return mn_parallel_for(v->ctx, v->particles.count, POINT_GRAIN, receive_range, v);
}

static mn_status carry_range(void *user, mn_range range)
{
    const carry_job *job = user;
    mn_codim_volume *v = job->volume;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_codim_particle *p = &v->particles.data[i];
        const mn_vec3 middle =
            mn_axpy(p->position, 0.5 * job->dt, mn_codim_volume_velocity(v, p->position, NULL));
        p->position = mn_axpy(p->position, job->dt, mn_codim_volume_velocity(v, middle, NULL));
    }
    return MN_OK;
}

mn_status mn_codim_volume_carry(mn_codim_volume *v, double dt)
{
    carry_job job = {v, dt};
    return mn_parallel_for(v->ctx, v->particles.count, POINT_GRAIN, carry_range, &job);
}
