// SPDX-License-Identifier: Apache-2.0
//
// A liquid that starts at rest: pressures with which the forces on the grid cancel.
//
//   f_i = sum_p q_p G_ip + m_i g + s_i = 0,   q_p = V_p J_p p_p,   G_ip = grad w_i(x_p), and the walls' part
//
// for every node, in every direction that walls leave free; s_i is the surface's force. [hyde2020] 5.3 gets
// there by quadrature: where p = rho g depth and the particles integrate p grad w and w exactly, the balance
// is that of the continuum. Two Gauss points on each axis of a cell between half nodes do, for the integrands
// are cubic there; a pool filled with them, up to its walls, is at rest to rounding. For particles anywhere
// else we look for the pressures that leave the least acceleration, sum_i |f_i|^2/m_i, starting from the
// linear ones: first their constant, then all of them, by conjugate gradients on the normal equations (CGLS)
// [paige1982]. Tested: tests/unit/mpm/test_hydrostatic.c, V7.
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/boundary.h"
#include "mpm/pressure.h"
#include "mpm/surface_energy.h"

#include <string.h>

enum { ITERATIONS_MAX = 200, SLOPE_GRAIN = 256 };
static const double tolerance = 1e-13; // of gravity, in the mean

/// A field on the nodes.
typedef MN_ARRAY(mn_vec3) node_field;

typedef struct balance {
    mn_mpm *mpm;
    mn_mpm_def held;                      ///< walls that liquid could leave hold it: it rests on them
    MN_ARRAY(double) mass;                ///< of nodes
    MN_ARRAY(double) q, slope, direction; ///< of particles
    node_field force, residual, image;
    MN_ARRAY(int32_t) bound; ///< nodes at walls
} balance;

/// The 27 nodes of a place: weights and their gradients.
typedef struct stencil {
    int32_t node[27];
    double w[27];
    mn_vec3 g[27];
} stencil;

static void find_stencil(const mn_mpm *mpm, mn_vec3 x, stencil *s)
{
    const mn_block_table *table = &mpm->grid.table;
    const mn_vec3 place = mn_scale(table->inverse_dx, mn_sub(x, table->origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    const double t[3] = {place.x - cell.x, place.y - cell.y, place.z - cell.z};
    double w[3][3], g[3][3];
    for (int a = 0; a < 3; a++) {
        w[a][0] = 0.5 * (1 - t[a]) * (1 - t[a]), g[a][0] = (t[a] - 1) * table->inverse_dx;
        w[a][1] = 0.5 + t[a] * (1 - t[a]), g[a][1] = (1 - 2 * t[a]) * table->inverse_dx;
        w[a][2] = 0.5 * t[a] * t[a], g[a][2] = t[a] * table->inverse_dx;
    }
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    for (int32_t k = 0; k < 27; k++) {
        const int32_t i = k / 9, j = k / 3 % 3, l = k % 3;
        s->node[k] = at < 0 ? -1
                            : mn_block_reach(table, at / MN_BLOCK_CELLS, (cell.x & 3) + i, (cell.y & 3) + j,
                                             (cell.z & 3) + l);
        s->w[k] = w[0][i] * w[1][j] * w[2][l];
        s->g[k] =
            mn_v3(g[0][i] * w[1][j] * w[2][l], w[0][i] * g[1][j] * w[2][l], w[0][i] * w[1][j] * g[2][l]);
    }
}

/// G_ip . field summed over nodes, for particle p.
static double transpose(const mn_mpm *mpm, int32_t p, const stencil *s, const mn_vec3 *field)
{
    double sum = 0;
    mn_mpm_foot f;
    for (int32_t k = 0; k < 27; k++)
        if (s->node[k] >= 0) sum += mn_dot(s->g[k], field[s->node[k]]);
    for (int64_t c = mn_mpm_first_contact(mpm, p); mn_mpm_is_contact(mpm, c, p); c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t k = 0; k < f.count; k++)
            sum += contact->weight * f.w[k] * mn_dot(contact->normal, field[f.node[k]]);
    }
    return sum;
}

/// field_i += q G_ip
static void spread(const mn_mpm *mpm, int32_t p, const stencil *s, double q, mn_vec3 *field)
{
    mn_mpm_foot f;
    for (int32_t k = 0; k < 27; k++)
        if (s->node[k] >= 0) field[s->node[k]] = mn_axpy(field[s->node[k]], q, s->g[k]);
    for (int64_t c = mn_mpm_first_contact(mpm, p); mn_mpm_is_contact(mpm, c, p); c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t k = 0; k < f.count; k++)
            field[f.node[k]] = mn_axpy(field[f.node[k]], q * contact->weight * f.w[k], contact->normal);
    }
}

// ---- nodes ----

static int64_t node_count(const balance *b)
{
    return (int64_t)b->mpm->grid.table.count * MN_BLOCK_CELLS;
}

static mn_vec3 position(const mn_mpm *mpm, int32_t node)
{
    return mn_mpm_node_position(&mpm->grid.table, node / MN_BLOCK_CELLS, node % MN_BLOCK_CELLS);
}

/// What walls that do not move leave of a field.
static void hold(const balance *b, mn_vec3 *field)
{
    const mn_mpm *mpm = b->mpm;
    for (int64_t i = 0; i < b->bound.count; i++) {
        const int32_t node = b->bound.data[i];
        const mn_vec3 x = position(mpm, node);
        mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
        const int32_t count = mn_mpm_solids_near(&b->held, mpm->run.collider, mpm->run.frame_left, x,
                                                 1e-6 * mpm->def.dx, solids);
        for (int32_t k = 0; k < count; k++)
            field[node] = mn_mpm_bound_velocity(solids[k].kind, 0, solids[k].normal, field[node]);
    }
}

static double weighted_norm2(const balance *b, const mn_vec3 *field)
{
    double sum = 0;
    for (int64_t i = 0; i < node_count(b); i++)
        if (b->mass.data[i] > 0) sum += mn_norm2(field[i]) / b->mass.data[i];
    return sum;
}

// ---- forces ----

static void add_mass(balance *b)
{
    const mn_mpm *mpm = b->mpm;
    stencil s;
    for (int64_t p = 0; p < mpm->particles.count; p++) {
        find_stencil(mpm, mn_mpm_position(&mpm->particles.data[p]), &s);
        for (int32_t k = 0; k < 27; k++)
            if (s.node[k] >= 0) b->mass.data[s.node[k]] += s.w[k] * mpm->particles.data[p].mass;
    }
}

static void add_surface(balance *b)
{
    const mn_mpm *mpm = b->mpm;
    stencil s;
    for (int64_t r = 0; r < mpm->surface.patches.count; r++) {
        const mn_mpm_patch *patch = &mpm->surface.patches.data[r];
        const mn_mat3 stress =
            mn_surface_stress(mn_surface_patch_make(patch->area, patch->sigma), mn_m3_identity());
        find_stencil(mpm, patch->x, &s);
        for (int32_t k = 0; k < 27; k++) {
            if (s.node[k] < 0) continue;
            mn_vec3 *f = &b->force.data[s.node[k]];
            *f = mn_axpy(mn_sub(*f, mn_m3_apply(stress, s.g[k])), s.w[k], patch->force);
        }
    }
}

// Gravity, and what the walls carry of it between a particle and its foot.
static void add_gravity(balance *b)
{
    const mn_mpm *mpm = b->mpm;
    mn_mpm_foot f;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const double push = contact->weight * mn_mpm_wall_weight(mpm, contact);
        mn_mpm_find_foot(mpm, contact, &f);
        for (int32_t k = 0; k < f.count; k++)
            b->force.data[f.node[k]] = mn_axpy(b->force.data[f.node[k]], push * f.w[k], contact->normal);
    }
    for (int64_t i = 0; i < node_count(b); i++)
        b->force.data[i] = mn_axpy(b->force.data[i], b->mass.data[i], b->mpm->def.gravity);
}

/// The forces of q beside gravity's and the surface's: residual = -(force + G q), held.
static void find_residual(balance *b)
{
    stencil s;
    for (int64_t i = 0; i < node_count(b); i++) b->residual.data[i] = b->force.data[i];
    for (int32_t p = 0; p < (int32_t)b->mpm->particles.count; p++) {
        find_stencil(b->mpm, mn_mpm_position(&b->mpm->particles.data[p]), &s);
        spread(b->mpm, p, &s, b->q.data[p], b->residual.data);
    }
    for (int64_t i = 0; i < node_count(b); i++) b->residual.data[i] = mn_scale(-1, b->residual.data[i]);
    hold(b, b->residual.data);
}

// ---- solving ----

/// image = G (V values), held.
static void apply(balance *b, const double *values)
{
    const mn_mpm *mpm = b->mpm;
    stencil s;
    for (int64_t i = 0; i < node_count(b); i++) b->image.data[i] = mn_v3(0, 0, 0);
    for (int32_t p = 0; p < (int32_t)mpm->particles.count; p++) {
        find_stencil(mpm, mn_mpm_position(&mpm->particles.data[p]), &s);
        spread(mpm, p, &s, mpm->materials.data[p].volume * values[p], b->image.data);
    }
    hold(b, b->image.data);
}

static mn_status slope_range(void *user, mn_range range)
{
    const balance *b = user;
    stencil s;
    for (int32_t p = (int32_t)range.begin; p < range.end; p++) {
        find_stencil(b->mpm, mn_mpm_position(&b->mpm->particles.data[p]), &s);
        b->slope.data[p] = transpose(b->mpm, p, &s, b->image.data);
    }
    return MN_OK;
}

/// slope = V G^T (residual / m), and its square over V. The residual is divided by the mass on the way.
static mn_status find_slope(balance *b, double *square)
{
    const mn_mpm *mpm = b->mpm;
    for (int64_t i = 0; i < node_count(b); i++)
        b->image.data[i] =
            b->mass.data[i] > 0 ? mn_scale(1 / b->mass.data[i], b->residual.data[i]) : mn_v3(0, 0, 0);
    MN_TRY(mn_parallel_long(mpm->solver.ctx, mpm->particles.count, SLOPE_GRAIN, slope_range, b));
    *square = 0;
    for (int64_t p = 0; p < mpm->particles.count; p++)
        *square += mpm->materials.data[p].volume * b->slope.data[p] * b->slope.data[p];
    return MN_OK;
}

/// q += step V direction, and what that leaves of the residual.
static void go(balance *b, double step, const double *direction)
{
    for (int64_t p = 0; p < b->mpm->particles.count; p++)
        b->q.data[p] += step * b->mpm->materials.data[p].volume * direction[p];
    for (int64_t i = 0; i < node_count(b); i++)
        b->residual.data[i] = mn_axpy(b->residual.data[i], -step, b->image.data[i]);
}

/// The best multiple of one direction alone.
static void fit(balance *b, const double *direction)
{
    double along = 0;
    apply(b, direction);
    for (int64_t i = 0; i < node_count(b); i++)
        if (b->mass.data[i] > 0) along += mn_dot(b->image.data[i], b->residual.data[i]) / b->mass.data[i];
    const double size = weighted_norm2(b, b->image.data);
    if (size > 0) go(b, along / size, direction);
}

static mn_status solve(balance *b)
{
    const int64_t count = b->mpm->particles.count;
    const double scale = b->mpm->extremes.mass * mn_norm2(b->mpm->def.gravity);
    for (int64_t p = 0; p < count; p++) b->direction.data[p] = 1;
    fit(b, b->direction.data);
    double gamma, beta = 0;
    MN_TRY(find_slope(b, &gamma));
    for (int64_t p = 0; p < count; p++) b->direction.data[p] = 0;
    for (int32_t k = 0; k < ITERATIONS_MAX; k++) {
        if (weighted_norm2(b, b->residual.data) <= tolerance * tolerance * scale) break;
        MN_TRY(mn_check_cancelled(b->mpm->solver.ctx));
        for (int64_t p = 0; p < count; p++)
            b->direction.data[p] = b->slope.data[p] + beta * b->direction.data[p];
        apply(b, b->direction.data);
        const double size = weighted_norm2(b, b->image.data);
        if (!(size > 0)) break;
        go(b, gamma / size, b->direction.data);
        double next;
        MN_TRY(find_slope(b, &next));
        beta = next / gamma, gamma = next;
    }
    return MN_OK;
}

// p = rho g depth below the highest particle.
static void guess(balance *b)
{
    const mn_mpm *mpm = b->mpm;
    const mn_vec3 g = mpm->def.gravity;
    const double size = mn_norm(g);
    const mn_vec3 down = mn_normalize(g);
    double top = INFINITY;
    for (int64_t p = 0; p < mpm->particles.count; p++)
        top = fmin(top, mn_dot(down, mn_mpm_position(&mpm->particles.data[p])));
    for (int64_t p = 0; p < mpm->particles.count; p++) {
        const double depth = mn_dot(down, mn_mpm_position(&mpm->particles.data[p])) - top;
        b->q.data[p] = mpm->particles.data[p].mass * size * depth;
    }
}

// q = V J K (1 - J), solved for J.
static void keep_pressures(balance *b)
{
    mn_mpm *mpm = b->mpm;
    for (int64_t p = 0; p < mpm->particles.count; p++) {
        mn_mpm_material *m = &mpm->materials.data[p];
        const double ratio = 4 * b->q.data[p] / (mpm->bulk_modulus * m->volume);
        m->j = 0.5 * (1 + sqrt(fmax(1 - ratio, 0)));
    }
}

static mn_status make(balance *b)
{
    mn_context *ctx = b->mpm->solver.ctx;
    const int64_t nodes = node_count(b);
    MN_TRY(mn_array_resize(ctx, &b->mass, nodes));
    MN_TRY(mn_array_resize(ctx, &b->force, nodes));
    MN_TRY(mn_array_resize(ctx, &b->residual, nodes));
    MN_TRY(mn_array_resize(ctx, &b->image, nodes));
    MN_TRY(mn_array_resize(ctx, &b->q, b->mpm->particles.count));
    MN_TRY(mn_array_resize(ctx, &b->slope, b->mpm->particles.count));
    MN_TRY(mn_array_resize(ctx, &b->direction, b->mpm->particles.count));
    memset(b->mass.data, 0, mn_bytes(nodes, sizeof *b->mass.data));
    memset(b->force.data, 0, mn_bytes(nodes, sizeof *b->force.data));
    b->held = b->mpm->def;
    for (int i = 0; i < 6; i++)
        if (b->held.wall[i] == MN_MPM_SEPARATE) b->held.wall[i] = MN_MPM_SLIP;
    if (b->held.collider == MN_MPM_SEPARATE) b->held.collider = MN_MPM_SLIP;
    add_mass(b);
    const mn_mpm *mpm = b->mpm;
    for (int32_t i = 0; i < (int32_t)nodes; i++)
        if (b->mass.data[i] > 0 && mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_left,
                                                         position(mpm, i)) <= 1e-6 * mpm->def.dx)
            MN_TRY(mn_array_push(ctx, &b->bound, &i));
    return MN_OK;
}

mn_status mn_mpm_balance(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    balance b = {.mpm = mpm};
    mn_status status = MN_OK;
    if (mpm->particles.count == 0 || !(mn_norm(mpm->def.gravity) > 0)) return MN_OK;
    MN_TRY_TO(out, status, make(&b));
    add_surface(&b);
    add_gravity(&b);
    guess(&b);
    find_residual(&b);
    MN_TRY_TO(out, status, solve(&b));
    keep_pressures(&b);
out:
    mn_array_free(ctx, &b.mass);
    mn_array_free(ctx, &b.force);
    mn_array_free(ctx, &b.slope);
    mn_array_free(ctx, &b.residual);
    mn_array_free(ctx, &b.direction);
    mn_array_free(ctx, &b.image);
    mn_array_free(ctx, &b.q);
    mn_array_free(ctx, &b.bound);
    return status;
}
