// SPDX-License-Identifier: Apache-2.0
//
// One step of the volumes: skin, grid and transfer, gravity, the coupled solve, and the way of particles and
// skin. What a step leaves behind is kept honest body by body:
//
//   - Mass lies on the particles and does not change. The skin's volume follows it: a body whose skin holds
//     more or less than its particles' volume gets a small divergence until it does not.
//   - A body that no solid touches gains dt g M of momentum, and what films and threads that end at it pull
//     with (film_attach.c), and no more.
//   - Particles that the skin has left behind go back under it, or fly on as drops when they are far from it.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512 };
static const double UNDER_SKIN = 0.1;  // dx
static const double NEAR_SPRING = 1.5; // dx
static const double CLOSE = 1.0;       // dx
static const double PUSH_REACH = 1.5;  // dx, from the edge of a film to particles that it pulls along
static const double DEEP = 1.0;        // dx, of a cell's centre: none of its particles is outside

mn_status mn_codim_volume_create(mn_context *ctx, mn_codim_volume **out)
{
    *out = NULL;
    mn_codim_volume *v = mn_allocate_zero(ctx, sizeof *v);
    if (!v) return MN_ERROR_MEMORY;
    v->ctx = ctx;
    mn_status status = mn_codim_film_surface_create(ctx, &v->hull.surface);
    if (status == MN_OK) status = mn_blocks_create(ctx, &v->grid.blocks);
    if (status == MN_OK) status = mn_point_sort_create(ctx, &v->grid.sort);
    if (status == MN_OK) status = mn_krylov_create(ctx, &v->coupling.krylov);
    if (status != MN_OK) {
        mn_codim_volume_free(v);
        return status;
    }
    *out = v;
    return MN_OK;
}

static void free_numbers(mn_codim_volume *v)
{
    mn_codim_double_array *numbers[] = {&v->grid.phi,           &v->grid.layer,
                                        &v->grid.solid,         &v->grid.open,
                                        &v->grid.wall,          &v->grid.speed,
                                        &v->grid.before,        &v->grid.weight,
                                        &v->coupling.pressure,  &v->coupling.entries.values,
                                        &v->coupling.component, &v->coupling.right,
                                        &v->coupling.solution,  &v->grid.strain,
                                        &v->grid.face_mass,     &v->grid.face_right,
                                        &v->grid.face_speed};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) mn_array_free(v->ctx, numbers[i]);
    mn_codim_volume_index_array *indices[] = {&v->hull.corners,
                                              &v->hull.body,
                                              &v->grid.next,
                                              &v->grid.unknown,
                                              &v->grid.liquid,
                                              &v->grid.body,
                                              &v->stack,
                                              &v->coupling.entries.rows,
                                              &v->coupling.entries.columns};
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) mn_array_free(v->ctx, indices[i]);
    mn_codim_vec3_array *vectors[] = {
        &v->hull.x0,    &v->hull.x1,   &v->hull.normals, &v->hull.u0,          &v->hull.change,
        &v->grid.sites, &v->hull.mass, &v->hull.outward, &v->hull.wall_normal, &v->hull.line_pull};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) mn_array_free(v->ctx, vectors[i]);
    mn_array_free(v->ctx, &v->hull.ids);
    mn_array_free(v->ctx, &v->hull.none);
    mn_array_free(v->ctx, &v->hull.doubt);
    mn_array_free(v->ctx, &v->hull.doubts);
    mn_array_free(v->ctx, &v->hull.fixed);
    mn_array_free(v->ctx, &v->hull.wet);
    mn_array_free(v->ctx, &v->grid.kind);
    mn_array_free(v->ctx, &v->grid.known);
    mn_array_free(v->ctx, &v->grid.newly);
    mn_array_free(v->ctx, &v->coupling.cell_start);
}

void mn_codim_volume_free(mn_codim_volume *v)
{
    if (!v) return;
    free_numbers(v);
    mn_array_free(v->ctx, &v->particles);
    mn_array_free(v->ctx, &v->spare);
    mn_array_free(v->ctx, &v->skin);
    mn_array_free(v->ctx, &v->backup.skin);
    mn_array_free(v->ctx, &v->pouring.template);
    mn_array_free(v->ctx, &v->poured);
    mn_array_free(v->ctx, &v->backup.poured);
    mn_array_free(v->ctx, &v->pouring.fraction);
    mn_array_free(v->ctx, &v->backup.particles);
    mn_array_free(v->ctx, &v->lost);
    mn_array_free(v->ctx, &v->sheets);
    mn_array_free(v->ctx, &v->grid.bodies);
    mn_array_free(v->ctx, &v->coupling.crossings);
    mn_array_free(v->ctx, &v->coupling.pushes);
    mn_codim_film_matrix_free(v->ctx, &v->hull.matrix);
    mn_codim_film_surface_free(&v->hull.surface);
    mn_triangles_free(v->hull.mesh);
    mn_triplets_free(v->ctx, &v->coupling.own);
    mn_triplets_free(v->ctx, &v->coupling.with_films);
    mn_quasi_definite_factor_free(v->ctx, &v->coupling.factor);
    mn_blocks_free(v->grid.blocks);
    mn_point_sort_free(v->grid.sort);
    mn_krylov_free(v->coupling.krylov);
    mn_release(v->ctx, v, sizeof *v);
}

// ---- before the solve ----

// By cells; a particle that changes its cell by this stays sorted under the old one for the step. What is
// nearer to a cell's centre than the skin is on the same side as the centre; beside solids and inflows the
// distance there is not that from the skin alone.
static mn_status tuck_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    const bool free = !v->set.collider && v->set.inflow_count == 0;
    for (int64_t cell = range.begin; cell < range.end; cell++) {
        if (v->grid.phi.data[cell] < -DEEP * v->set.dx) continue;
        const mn_vec3 center = mn_codim_volume_cell_center(v, (int32_t)cell);
        for (int32_t i = v->grid.sorted.cell_start[cell]; i < v->grid.sorted.cell_start[cell + 1]; i++) {
            mn_codim_particle *p = &v->particles.data[i];
            mn_mesh_point near;
            if (free && mn_distance(p->position, center) < -v->grid.phi.data[cell]) continue;
            if (!mn_triangles_closest(v->hull.mesh, p->position, CLOSE * v->set.dx, &near)) continue;
            if (mn_dot(mn_sub(p->position, near.position), near.normal) <= 0) continue;
            p->position = mn_axpy(near.position, -UNDER_SKIN * v->set.dx, near.normal);
        }
    }
    return MN_OK;
}

int32_t mn_codim_volume_cell_at(const mn_codim_volume *v, mn_vec3 x)
{
    const mn_vec3 at = mn_scale(v->grid.table.inverse_dx, mn_sub(x, v->grid.table.origin));
    return mn_blocks_find_cell(v->grid.blocks,
                               mn_iv3((int32_t)floor(at.x), (int32_t)floor(at.y), (int32_t)floor(at.z)));
}

// The body at a position: that of its cell, or of the deepest cell around it; -1: none.
static int32_t body_at(const mn_codim_volume *v, mn_vec3 x)
{
    const int32_t cell = mn_codim_volume_cell_at(v, x);
    if (cell < 0) return -1;
    if (v->grid.unknown.data[cell] >= 0) return v->grid.body.data[v->grid.unknown.data[cell]];
    double least = INFINITY;
    int32_t body = -1;
    for (int32_t k = 0; k < 27; k++) {
        const int32_t at = cell % MN_BLOCK_CELLS;
        const int32_t other = mn_block_reach(&v->grid.table, cell / MN_BLOCK_CELLS, (at >> 4) + k / 9 - 1,
                                             ((at >> 2) & 3) + k / 3 % 3 - 1, (at & 3) + k % 3 - 1);
        if (other < 0 || v->grid.unknown.data[other] < 0) continue;
        const double d = mn_distance(mn_codim_volume_cell_center(v, other), x);
        if (d < least) least = d, body = v->grid.body.data[v->grid.unknown.data[other]];
    }
    return body;
}

static void add_volume(mn_codim_volume *v)
{
    for (int64_t t = 0; t + 2 < v->hull.corners.count; t += 3) {
        const int32_t *c = &v->hull.corners.data[t];
        const int32_t body = v->hull.body.data[c[0]];
        if (body < 0) continue;
        const mn_vec3 a = v->hull.x0.data[c[0]], p = v->hull.x0.data[c[1]], q = v->hull.x0.data[c[2]];
        v->grid.bodies.data[body].volume += mn_dot(a, mn_cross(p, q)) / 6;
    }
}

// Skin of each body and what its particles weigh; particles of no body go to `lost`.
static mn_status weigh_bodies(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->hull.body, v->skin.count));
    for (int64_t p = 0; p < v->skin.count; p++) v->hull.body.data[p] = body_at(v, v->hull.x0.data[p]);
    add_volume(v);
    for (int64_t i = 0; i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        const int32_t body = body_at(v, p->position);
        if (body < 0) continue;
        v->grid.bodies.data[body].mass += p->mass;
        v->grid.bodies.data[body].momentum =
            mn_axpy(v->grid.bodies.data[body].momentum, p->mass, p->velocity);
        v->grid.bodies.data[body].angular =
            mn_axpy(v->grid.bodies.data[body].angular, p->mass, mn_cross(p->position, p->velocity));
    }
    return MN_OK;
}

// The skin has no memory: it starts with the liquid's velocity.
static void start_skin(mn_codim_volume *v)
{
    for (int64_t p = 0; p < v->skin.count; p++)
        v->hull.u0.data[p] =
            mn_codim_volume_is_held(&v->skin.data[p])
                ? v->skin.data[p].velocity
                : mn_codim_volume_along_wall(v, p, mn_codim_volume_velocity(v, v->hull.x0.data[p], NULL));
}

mn_status mn_codim_volume_prepare(mn_codim_volume *v, const mn_codim_volume_settings *settings,
                                  int64_t *next_id)
{
    v->set = *settings;
    MN_TRY(mn_codim_volume_inflow_open(v, next_id));
    MN_TRY(mn_codim_volume_skin_build(v));
    MN_TRY(mn_codim_volume_join_and_part(v, next_id));
    if (v->particles.count == 0) { // all of it has become film
        v->skin.count = 0;
        return MN_OK;
    }
    MN_TRY(mn_codim_volume_grid_build(v));
    MN_TRY(mn_parallel_for(v->ctx, v->grid.cells, GRAIN, tuck_range, v));
    MN_TRY(weigh_bodies(v));
    MN_TRY(mn_codim_volume_to_grid(v));
    MN_TRY(mn_codim_volume_cross(v));
    memcpy(v->grid.before.data, v->grid.speed.data, mn_bytes(3 * (int64_t)v->grid.cells, sizeof(double)));
    start_skin(v);
    return MN_OK;
}

static double edge_change(const mn_codim_volume *v, const mn_vec3 *u, mn_range range)
{
    const mn_codim_film_matrix *m = &v->hull.matrix;
    double most = 0;
    for (int64_t p = range.begin; p < range.end; p++) {
        if (!mn_is_finite3(u[p])) return INFINITY;
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
            most = fmax(most, mn_norm2(mn_sub(u[p], u[m->column.data[e]])));
    }
    return sqrt(most);
}

static double edge_speed(void *user, mn_range range)
{
    const mn_codim_volume *v = user;
    return edge_change(v, v->hull.u0.data, range);
}

static double skin_speed(void *user, mn_range range)
{
    const mn_codim_volume *v = user;
    double most = 0;
    for (int64_t p = range.begin; p < range.end; p++) most = fmax(most, mn_norm2(v->hull.u0.data[p]));
    return sqrt(most);
}

mn_status mn_codim_volume_speeds(const mn_codim_volume *v, double *edge, double *fastest)
{
    MN_TRY(mn_parallel_max(v->ctx, v->skin.count, GRAIN, edge_speed, (void *)v, edge));
    return mn_parallel_max(v->ctx, v->skin.count, GRAIN, skin_speed, (void *)v, fastest);
}

// ---- the step ----

// `change` becomes the way of each point for a moment.
static double way_change(void *user, mn_range range)
{
    const mn_codim_volume *v = user;
    return edge_change(v, v->hull.change.data, range);
}

mn_status mn_codim_volume_begin(mn_codim_volume *v, double dt)
{
    const double g[3] = {v->set.gravity.x, v->set.gravity.y, v->set.gravity.z};
    for (int64_t f = 0; f < 3 * (int64_t)v->grid.cells; f++)
        v->grid.speed.data[f] = v->grid.before.data[f] + dt * g[f % 3];
    MN_TRY(mn_codim_volume_diffuse(v, dt));
    for (int64_t p = 0; p < v->skin.count; p++)
        v->hull.u0.data[p] =
            mn_codim_volume_along_wall(v, p, mn_codim_volume_velocity(v, v->hull.x0.data[p], NULL));
    v->coupling.pushes.count = 0;
    for (int64_t b = 0; b < v->grid.bodies.count; b++)
        v->grid.bodies.data[b].pull = v->grid.bodies.data[b].turn = mn_v3(0, 0, 0);
    return mn_codim_volume_assemble(v, dt);
}

mn_status mn_codim_volume_end(mn_codim_volume *v, double *stretch)
{
    const double dt = v->coupling.dt;
    MN_TRY(mn_codim_volume_take(v));
    MN_TRY(mn_codim_volume_extend(v, 3));
    for (int64_t p = 0; p < v->skin.count; p++) {
        if (v->hull.wet.data[p] &&
            v->hull.fixed.data[p]) // it moves as the grid does now, not as it would without pressure
            v->hull.change.data[p] = mn_sub(
                mn_codim_volume_along_wall(v, p, mn_codim_volume_velocity(v, v->hull.x0.data[p], NULL)),
                v->hull.u0.data[p]);
        const mn_vec3 end = mn_add(v->hull.u0.data[p], v->hull.change.data[p]);
        mn_vec3 way = mn_scale(dt, mn_axpy(v->hull.u0.data[p], v->set.theta, v->hull.change.data[p]));
        if (mn_codim_volume_is_held(&v->skin.data[p])) way = mn_v3(0, 0, 0);
        v->hull.x1.data[p] =
            mn_codim_volume_keep_out(v, mn_add(v->hull.x0.data[p], way), dt, v->hull.wet.data[p]);
        v->hull.x1.data[p] = mn_codim_volume_keep_layer(v, p, v->hull.x1.data[p], dt);
        v->hull.u0.data[p] = end;
        v->hull.change.data[p] = way;
    }
    return mn_parallel_max(v->ctx, v->skin.count, GRAIN, way_change, v, stretch);
}

mn_status mn_codim_volume_step(mn_codim_volume *v, double dt, double *stretch)
{
    MN_TRY(mn_codim_volume_begin(v, dt));
    MN_TRY(mn_codim_volume_solve(v));
    return mn_codim_volume_end(v, stretch);
}

// A body in free flight has dt g M more momentum than before, and what its films pull with; the rest of the
// change is taken out.
static mn_status balance(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->grid.sites, v->grid.bodies.count));
    MN_TRY(mn_array_resize(v->ctx, &v->stack, v->particles.count));
    for (int64_t b = 0; b < v->grid.bodies.count; b++) v->grid.sites.data[b] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < v->particles.count; i++) {
        mn_codim_particle *p = &v->particles.data[i];
        const int32_t unknown = v->grid.unknown.data[mn_codim_volume_cell_at(v, p->position)];
        p->pressure = unknown < 0 ? 0 : v->coupling.pressure.data[unknown];
        const int32_t body = v->stack.data[i] = body_at(v, p->position);
        if (body >= 0) v->grid.sites.data[body] = mn_axpy(v->grid.sites.data[body], -p->mass, p->velocity);
    }
    for (int64_t b = 0; b < v->grid.bodies.count; b++) {
        const mn_codim_volume_body *body = &v->grid.bodies.data[b];
        const mn_vec3 should =
            mn_add(mn_axpy(body->momentum, v->coupling.dt * body->mass, v->set.gravity), body->pull);
        v->grid.sites.data[b] = body->mass > 0 && body->held == 0
                                    ? mn_scale(1 / body->mass, mn_add(should, v->grid.sites.data[b]))
                                    : mn_v3(0, 0, 0);
    }
    return MN_OK;
}

/// What is missing of a body's angular momentum, about its centre of mass.
typedef struct volume_turn {
    double mass;
    mn_vec3 center, missing;
    mn_mat3 inertia;
} volume_turn;

static volume_turn measure_turn(const mn_codim_volume *v, int32_t b)
{
    const mn_codim_volume_body *body = &v->grid.bodies.data[b];
    volume_turn t = {.missing = mn_add(body->angular, body->turn)};
    for (int64_t i = 0; i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        if (v->stack.data[i] != b) continue;
        t.mass += p->mass;
        t.center = mn_axpy(t.center, p->mass, p->position);
        t.missing = mn_axpy(t.missing, -p->mass, mn_cross(p->position, p->velocity));
    }
    t.center = mn_scale(1 / t.mass, t.center);
    t.missing = mn_axpy(t.missing, v->coupling.dt * t.mass, mn_cross(t.center, v->set.gravity));
    for (int64_t i = 0; i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        const mn_vec3 r = mn_sub(p->position, t.center);
        if (v->stack.data[i] != b) continue;
        t.inertia = mn_m3_add(t.inertia, mn_m3_scale(p->mass * mn_norm2(r), mn_m3_identity()));
        t.inertia = mn_m3_add(t.inertia, mn_m3_scale(-p->mass, mn_outer(r, r)));
    }
    return t;
}

// The crossings hand on what pulls along the skin to faces beside the place where it does: the body gets it,
// but not all of its moment. What is missing of that is added as a turn of the whole.
static void balance_turns(mn_codim_volume *v)
{
    for (int32_t b = 0; b < (int32_t)v->grid.bodies.count; b++) {
        const mn_codim_volume_body *body = &v->grid.bodies.data[b];
        mn_mat3 inverse;
        if (!(mn_norm2(body->pull) > 0) || body->held > 0 || !(body->mass > 0)) continue;
        const volume_turn t = measure_turn(v, b);
        if (!(t.mass > 0) || !mn_m3_inverse(t.inertia, &inverse)) continue;
        const mn_vec3 spin = mn_m3_apply(inverse, t.missing);
        for (int64_t i = 0; i < v->particles.count && mn_is_finite3(spin); i++) {
            mn_codim_particle *p = &v->particles.data[i];
            if (v->stack.data[i] == b)
                p->velocity = mn_add(p->velocity, mn_cross(spin, mn_sub(p->position, t.center)));
        }
    }
}

static mn_status take_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t body = v->stack.data[i];
        if (body < 0) continue;
        mn_codim_particle *p = &v->particles.data[i];
        p->velocity = mn_add(p->velocity, v->grid.sites.data[body]);
    }
    return MN_OK;
}

// What has just come may not fill a cell yet.
static bool is_near_inflow(const mn_codim_volume *v, mn_vec3 x)
{
    return mn_codim_volume_inflow_distance(v, x) < NEAR_SPRING * v->set.dx;
}

// What no liquid cell is near any more: particles go to `lost`, points of the skin go.
static mn_status let_go(mn_codim_volume *v)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        if (v->stack.data[i] >= 0 || is_near_inflow(v, p->position)) {
            v->particles.data[kept++] = *p;
            continue;
        }
        const mn_codim_point drop = {.position = p->position,
                                     .velocity = p->velocity,
                                     .normal = mn_v3(0, 1, 0),
                                     .mass = p->mass,
                                     .id = p->id,
                                     .codim = MN_CODIM_DROP,
                                     .anchor = -1,
                                     .pocket = -1};
        MN_TRY(mn_array_push(v->ctx, &v->lost, &drop));
    }
    v->particles.count = kept;
    return MN_OK;
}

// The impulse goes to the particles around, more to those that are near.
static void push(mn_codim_volume *v, const mn_codim_volume_push *push)
{
    const int32_t cell = mn_codim_volume_cell_at(v, push->at), at = cell % MN_BLOCK_CELLS;
    const double reach2 = PUSH_REACH * PUSH_REACH * v->set.dx * v->set.dx;
    double sum = 0;
    for (int pass = 0; pass < 2 && cell >= 0; pass++) {
        for (int32_t k = 0; k < 27; k++) {
            const int32_t other = mn_block_reach(&v->grid.table, cell / MN_BLOCK_CELLS, (at >> 4) + k / 9 - 1,
                                                 ((at >> 2) & 3) + k / 3 % 3 - 1, (at & 3) + k % 3 - 1);
            for (int32_t i = other < 0 ? 0 : v->grid.sorted.cell_start[other];
                 i < (other < 0 ? 0 : v->grid.sorted.cell_start[other + 1]); i++) {
                mn_codim_particle *p = &v->particles.data[i];
                const double w = p->mass * (1 - mn_norm2(mn_sub(p->position, push->at)) / reach2);
                if (!(w > 0)) continue;
                if (pass == 0) sum += w;
                if (pass == 1) p->velocity = mn_axpy(p->velocity, w / (sum * p->mass), push->impulse);
            }
        }
        if (!(sum > 0)) return; // the balance of the body has it then
    }
}

// Velocities first, then the balance in the cells the particles were in, then their way.
mn_status mn_codim_volume_commit(mn_codim_volume *v, int64_t *next_id)
{
    MN_TRY(mn_codim_volume_to_particles(v));
    for (int64_t i = 0; i < v->coupling.pushes.count; i++) push(v, &v->coupling.pushes.data[i]);
    MN_TRY(balance(v));
    MN_TRY(mn_parallel_for(v->ctx, v->particles.count, GRAIN, take_range, v));
    if (v->coupling.pushes.count > 0) balance_turns(v);
    MN_TRY(let_go(v));
    MN_TRY(mn_codim_volume_carry(v, v->coupling.dt));
    for (int64_t i = 0; v->set.collider && i < v->particles.count; i++)
        v->particles.data[i].position =
            mn_codim_volume_keep_out(v, v->particles.data[i].position, v->coupling.dt, false);
    for (int64_t p = 0; p < v->skin.count; p++) {
        v->skin.data[p].position = v->hull.x1.data[p];
        v->skin.data[p].velocity = v->hull.u0.data[p];
        v->skin.data[p].normal = mn_codim_volume_side(v, p);
        const bool alone = v->hull.body.data[p] < 0 && !is_near_inflow(v, v->hull.x0.data[p]);
        if (alone || v->hull.surface.fans.data[p].count == 0) v->skin.data[p].id = -1;
    }
    MN_TRY(mn_codim_volume_skin_reseed(v, next_id));
    return mn_codim_volume_inflow_pour(v, v->coupling.dt, next_id);
}
