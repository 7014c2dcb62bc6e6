// SPDX-License-Identifier: Apache-2.0
//
// Where films and threads end at a volume, and the one system that they make with it: eq. 24 of [wang2020].
//
// A point q of a film's edge or at the end of a thread, close to the skin of a volume, moves as the skin
// under it does,
//
//   u_q = (W u)_q       u = u* + d  of the skin, W linear weights of the points of the skin around,
//
// and a little faster toward it where there is a gap. What pulls at q pulls at the skin by W^T. With A1 d1 =
// r1 the step of films and threads (codim/film/step.c) and the skin's and the pressures' rows of
// volume_coupling.c, d1_q = W d + b_q at such points, b = W u* - v0,
//
//   [ -A1_ff       -A1_fq W                 0          ] [d1_f]   [ -(r1 - A1 b)_f            ]
//   [ -W^T A1_qf   -(M + c K + W^T A1_qq W) J^T D_k^T  ] [d   ] = [ right - W^T (r1 - A1 b)_q ]
//   [  0            D_k J                   D_i M^-1 D_i^T ] [p ]   [ flow                    ]
//
// which is symmetric quasi-definite as before. The impulses lambda are eliminated with the crossings,
// those at the attached points by the substitution. A1 is applied as it is, without entries; the
// preconditioner is in film_factor.c.
//
// Near the line where a film ends, the skin is drawn to an edge finer than the grid. For the liquid in it,
// that no cell knows of, some mass moves with each held point, and the particles around get what that took.
//
// Momentum: W has rows that sum to one, so what the films lose the volume gets; codim/volume/step.c gives it
// to the body's particles to the last bit. The weights are linear, so that what a film does to a flat piece
// of skin has the right moment too.
#include "base/elementary.h"
#include "codim/volume/state.h"

#include <string.h>

enum { MOST_ITERATIONS = 4000 };
static const double TOLERANCE = 1e-8;
static const double EDGE_REACH = 0.75;  // dx, from the edge of a film or the end of a thread to the skin
static const double INNER_REACH = 0.35; // dx, from the rest of it
static const double AROUND = 1.0;       // dx, of skin that takes what pulls
static const double SAME_SIDE = 0.1;    // least cosine between normals of skin that takes part together
static const double REST = -0.1;        // dx, over the skin: where what is held comes to
static const double NEARER = 0.3;       // of the rest of the way in one step at most,
static const double CALM = 3;           // and in the time of a wave as long as a cell
static const double DRAGGED = 0.25;     // of spacing dx^2: liquid under a held point that moves with it
static const double ROUND_OFF = 0.02;   // of the spread of the skin's points: how flat they may lie

// ---- which points, and on what ----

typedef struct around {
    const mn_codim_volume *volume;
    mn_codim_hold *hold;
    int32_t nearest;
    mn_vec3 at;
} around;

static void add_skin(void *user, int32_t point, double distance2)
{
    around *a = user;
    const mn_codim_volume *v = a->volume;
    mn_codim_hold *hold = a->hold;
    const double r = AROUND * v->set.dx, w = 1 - distance2 / (r * r);
    if (hold->count == MN_CODIM_HOLD_MAX || !(w > 0) || v->hull.fixed.data[point]) return;
    if (v->hull.body.data[point] != hold->body) return;
    if (mn_dot(v->hull.outward.data[point], v->hull.outward.data[a->nearest]) < SAME_SIDE) return;
    hold->skin[hold->count] = point;
    hold->weight[hold->count++] = w * w;
}

// Weights that sum to one and give linear functions along the skin exactly.
static void make_linear(const mn_codim_volume *v, mn_codim_hold *hold, mn_vec3 at)
{
    double sum = 0;
    mn_vec3 middle = {0};
    mn_mat3 spread = {{{0}}}, inverse;
    for (int32_t k = 0; k < hold->count; k++) {
        sum += hold->weight[k];
        middle = mn_axpy(middle, hold->weight[k], v->hull.x0.data[hold->skin[k]]);
    }
    middle = mn_scale(1 / sum, middle);
    for (int32_t k = 0; k < hold->count; k++) {
        const mn_vec3 d = mn_sub(v->hull.x0.data[hold->skin[k]], middle);
        spread = mn_m3_add(spread, mn_m3_scale(hold->weight[k] / sum, mn_outer(d, d)));
    }
    const double least = ROUND_OFF * (spread.m[0][0] + spread.m[1][1] + spread.m[2][2]);
    mn_vec3 slope = {0};
    for (int i = 0; i < 3; i++) spread.m[i][i] += least;
    if (least > 0 && hold->count > 3 && mn_m3_inverse(spread, &inverse))
        slope = mn_m3_apply(inverse, mn_sub(at, middle));
    double total = 0;
    for (int32_t k = 0; k < hold->count; k++) {
        const mn_vec3 d = mn_sub(v->hull.x0.data[hold->skin[k]], middle);
        hold->weight[k] *= (1 + mn_dot(slope, d)) / sum;
        total += hold->weight[k];
    }
    for (int32_t k = 0; k < hold->count; k++) hold->weight[k] /= total;
}

// On the edge of a film, or at the end of a thread.
static bool is_end(const mn_codim *mls, int32_t p)
{
    if (mls->points.data[p].codim == MN_CODIM_FILM) return mls->surface.edge.data[p];
    return mls->threads.nodes.data[mls->threads.node_of.data[p]].degree == 1;
}

// How far from the skin it may be; 0: it is none that can be held.
static double reach_of(const mn_codim *mls, int32_t p)
{
    const mn_codim_point *point = &mls->points.data[p];
    const double dx = mls->liquid->set.dx;
    if (mls->pinned.data[p] || (mls->solids.collider && mls->solids.touches.data[p] == MN_CODIM_TOUCHES))
        return 0;
    const bool film = point->codim == MN_CODIM_FILM && mls->surface.fans.data[p].count > 0;
    const bool thread = point->codim == MN_CODIM_THREAD && mls->threads.node_of.data[p] >= 0;
    return film || thread ? (is_end(mls, p) ? EDGE_REACH : INNER_REACH) * dx : 0;
}

static bool find_hold(const mn_codim *mls, int32_t p, mn_codim_hold *hold)
{
    const mn_codim_volume *v = mls->liquid;
    const double reach = reach_of(mls, p);
    const mn_vec3 at = mls->x0.data[p];
    if (!(reach > 0) || mn_codim_volume_cell_at(v, at) < 0) return false;
    const int32_t nearest = mn_neighbours_nearest(v->hull.surface.neighbours, at, reach);
    if (nearest < 0 || v->hull.body.data[nearest] < 0) return false;
    *hold = (mn_codim_hold){.point = p, .body = v->hull.body.data[nearest], .nearest = nearest};
    const double height = mn_dot(mn_sub(at, v->hull.x0.data[nearest]), v->hull.outward.data[nearest]);
    if (is_end(mls, p)) hold->gap = fmax(0, height - REST * v->set.dx);
    around a = {v, hold, nearest, at};
    mn_neighbours_visit(v->hull.surface.neighbours, v->hull.x0.data[nearest], AROUND * v->set.dx, add_skin,
                        &a);
    if (hold->count == 0) return false;
    make_linear(v, hold, at);
    return true;
}

// The end of a thread that a volume holds has no cap.
static mn_status uncap_threads(mn_codim *mls)
{
    mn_codim_thread_graph *g = &mls->threads;
    bool any = false;
    for (int64_t i = 0; i < mls->holds.list.count; i++) {
        const int32_t node = g->node_of.data[mls->holds.list.data[i].point];
        if (node < 0 || !g->nodes.data[node].capped) continue;
        g->nodes.data[node].capped = false;
        any = true;
    }
    return any ? mn_codim_thread_measure(g, mls->x0.data, mls->def.sigma, &g->shape) : MN_OK;
}

mn_status mn_codim_find_holds(mn_codim *mls)
{
    mn_codim_holds *h = &mls->holds;
    h->list.count = 0;
    MN_TRY(mn_array_resize(mls->solver.ctx, &h->of, mls->points.count));
    for (int64_t p = 0; p < mls->points.count; p++) h->of.data[p] = -1;
    if (!mls->liquid || mls->liquid->particles.count == 0 || mls->liquid->grid.liquid.count == 0)
        return MN_OK;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++) {
        mn_codim_hold hold;
        if (!find_hold(mls, p, &hold)) continue;
        h->of.data[p] = (int32_t)h->list.count;
        MN_TRY(mn_array_push(mls->solver.ctx, &h->list, &hold));
    }
    return uncap_threads(mls);
}

void mn_codim_holds_free(mn_codim *mls)
{
    mn_codim_holds *h = &mls->holds;
    mn_array_free(mls->solver.ctx, &h->list);
    mn_array_free(mls->solver.ctx, &h->of);
    mn_array_free(mls->solver.ctx, &h->full);
    mn_array_free(mls->solver.ctx, &h->pull);
    mn_codim_double_array *numbers[] = {&h->right, &h->solution, &h->guess, &h->scratch};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        mn_array_free(mls->solver.ctx, numbers[i]);
}

// ---- W and its transpose ----

static mn_vec3 free_part(const mn_codim_volume *v, int32_t skin, mn_vec3 u)
{
    return v->hull.wet.data[skin] ? mn_m3_apply(mn_codim_volume_freedom(v, skin), u) : u;
}

static mn_vec3 skin_motion(const mn_codim_volume *v, const mn_codim_hold *hold, const mn_vec3 *d)
{
    mn_vec3 sum = {0};
    for (int32_t k = 0; k < hold->count; k++)
        sum = mn_axpy(sum, hold->weight[k], free_part(v, hold->skin[k], d[hold->skin[k]]));
    return sum;
}

static void add_to_skin(const mn_codim_volume *v, const mn_codim_hold *hold, mn_vec3 pull, mn_vec3 *out)
{
    for (int32_t k = 0; k < hold->count; k++) {
        const int32_t s = hold->skin[k];
        out[s] = mn_axpy(out[s], hold->weight[k], free_part(v, s, pull));
    }
}

// ---- the system: films and threads, then the skin, then the pressures ----

typedef struct coupled {
    mn_codim *mls;
    const mn_linear_problem *film;
} coupled;

static mn_status apply(void *user, const double *x, double *y)
{
    const coupled *c = user;
    mn_codim_holds *h = &c->mls->holds;
    const mn_codim_volume *v = c->mls->liquid;
    const int64_t films = c->mls->points.count;
    const mn_vec3 *skin = (const mn_vec3 *)x + films;
    mn_vec3 *out = (mn_vec3 *)y;
    memcpy(h->full.data, x, mn_bytes(films, sizeof(mn_vec3)));
    for (int64_t i = 0; i < h->list.count; i++)
        h->full.data[h->list.data[i].point] = skin_motion(v, &h->list.data[i], skin);
    MN_TRY(c->film->apply(c->film->apply_user, &h->full.data->x, y));
    for (int64_t i = 0; i < h->list.count; i++) {
        const int32_t q = h->list.data[i].point;
        out[q] = mn_axpy(out[q], h->mass, h->full.data[q]);
    }
    for (int64_t p = 0; p < films; p++) out[p] = mn_scale(-1, out[p]);
    MN_TRY(mn_sparse_apply(v->ctx, &v->coupling.system, x + 3 * films, y + 3 * films));
    for (int64_t i = 0; i < h->list.count; i++) {
        mn_vec3 *at = &out[h->list.data[i].point];
        add_to_skin(v, &h->list.data[i], *at, out + films);
        *at = mn_v3(0, 0, 0);
    }
    return MN_OK;
}

static mn_status factor(coupled *c, double stiff)
{
    mn_codim_holds *h = &c->mls->holds;
    for (int64_t p = 0; p < c->mls->points.count; p++) h->full.data[p] = mn_v3(1, 1, 1);
    MN_TRY(c->film->precondition(c->film->precondition_user, &h->full.data->x, h->scratch.data));
    return mn_codim_factor_held(c->mls, stiff, (const mn_vec3 *)h->scratch.data);
}

// The right-hand side with b and with the volume's own; of the films alone for what answers to a pull.
static mn_status right_side(coupled *c, const mn_vec3 *film_right, bool alone)
{
    mn_codim_holds *h = &c->mls->holds;
    const mn_codim_volume *v = c->mls->liquid;
    const int64_t films = c->mls->points.count, size = h->right.count;
    double *right = h->right.data;
    mn_vec3 *at = (mn_vec3 *)right;
    memset(right, 0, mn_bytes(size, sizeof *right));
    if (!alone) {
        memset(h->full.data, 0, mn_bytes(films, sizeof(mn_vec3)));
        for (int64_t i = 0; i < h->list.count; i++)
            h->full.data[h->list.data[i].point] = h->list.data[i].jump;
        MN_TRY(c->film->apply(c->film->apply_user, &h->full.data->x, right));
        memcpy(right + 3 * films, v->coupling.right.data, mn_bytes(size - 3 * films, sizeof *right));
    }
    for (int64_t p = 0; p < films; p++) at[p] = mn_sub(at[p], film_right[p]);
    for (int64_t i = 0; i < h->list.count; i++) {
        const mn_codim_hold *hold = &h->list.data[i];
        add_to_skin(v, hold, at[hold->point], at + films);
        at[hold->point] = mn_v3(0, 0, 0);
    }
    return MN_OK;
}

mn_status mn_codim_begin_holds(mn_codim *mls, double dt)
{
    mn_codim_holds *h = &mls->holds;
    mn_codim_volume *v = mls->liquid;
    MN_TRY(mn_codim_volume_begin(v, dt));
    h->mass = DRAGGED * v->set.density * v->set.spacing * v->set.dx * v->set.dx;
    const int64_t size = 3 * mls->points.count + 3 * v->skin.count + v->grid.liquid.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &h->full, mls->points.count));
    MN_TRY(mn_array_resize(mls->solver.ctx, &h->pull, mls->points.count));
    mn_codim_double_array *numbers[] = {&h->right, &h->solution, &h->guess, &h->scratch};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        MN_TRY(mn_array_resize(mls->solver.ctx, numbers[i], size));
    memset(h->guess.data, 0, mn_bytes(size, sizeof(double)));
    mn_codim_volume_guess(v, h->guess.data + 3 * mls->points.count);
    const double wave = sqrt(v->set.sigma / v->set.density) / mn_pow(v->set.dx, 1.5);
    const double pace = fmin(NEARER / dt, CALM * wave); // 1/s
    for (int64_t i = 0; i < h->list.count; i++) {
        mn_codim_hold *hold = &h->list.data[i];
        mn_vec3 moves = {0};
        for (int32_t k = 0; k < hold->count; k++)
            moves = mn_axpy(moves, hold->weight[k], v->hull.u0.data[hold->skin[k]]);
        const mn_vec3 nearer = mn_scale(-hold->gap * pace, v->hull.outward.data[hold->nearest]);
        hold->jump = mn_sub(mn_add(moves, nearer), mls->v0.data[hold->point]);
    }
    h->factored = false;
    return MN_OK;
}

mn_status mn_codim_solve_held(mn_codim *mls, const mn_linear_problem *film, double stiff,
                              const mn_vec3 *right, bool alone, mn_vec3 *solution)
{
    mn_codim_holds *h = &mls->holds;
    mn_codim_volume *v = mls->liquid;
    coupled c = {mls, film};
    const int64_t films = mls->points.count, size = h->right.count;
    const mn_linear_problem problem = {size, apply, &c, NULL, NULL};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    if (!h->factored) MN_TRY(factor(&c, stiff));
    h->factored = true;
    MN_TRY(right_side(&c, right, alone));
    def.tolerance = TOLERANCE, def.max_iterations = MOST_ITERATIONS;
    if (alone)
        memset(h->solution.data, 0, mn_bytes(size, sizeof(double)));
    else
        memcpy(h->solution.data, h->guess.data, mn_bytes(size, sizeof(double)));
    MN_TRY(mn_quasi_definite_factor_solve(&v->coupling.factor, mls->krylov, &problem, &def, h->right.data,
                                          h->solution.data, &result));
    mls->solver.counts.linear_iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(mls->solver.ctx, MN_ERROR_DIVERGED,
                       "The coupled equations of film and liquid cannot be solved; use a smaller max_dt.");
    if (!alone) { // and the next solve of this step starts from here
        memcpy(h->guess.data, h->solution.data, mn_bytes(size, sizeof(double)));
        memcpy(v->coupling.solution.data, h->solution.data + 3 * films,
               mn_bytes(size - 3 * films, sizeof(double)));
    }
    memcpy(solution, h->solution.data, mn_bytes(films, sizeof(mn_vec3)));
    const mn_vec3 *skin = (const mn_vec3 *)h->solution.data + films;
    for (int64_t i = 0; i < h->list.count; i++) {
        const mn_codim_hold *hold = &h->list.data[i];
        const mn_vec3 d = skin_motion(v, hold, skin);
        solution[hold->point] = alone ? d : mn_add(d, hold->jump);
    }
    return MN_OK;
}

void mn_codim_move_held(mn_codim *mls, double factor)
{
    for (int64_t i = 0; i < mls->holds.list.count; i++) {
        const mn_codim_hold *hold = &mls->holds.list.data[i];
        mls->x1.data[hold->point] = mn_axpy(mls->x1.data[hold->point], factor, hold->jump);
    }
}

mn_status mn_codim_pull_bodies(mn_codim *mls, const mn_vec3 *applied, const mn_vec3 *right, mn_vec3 *sum)
{
    mn_codim_volume *v = mls->liquid;
    *sum = mn_v3(0, 0, 0);
    v->coupling.pushes.count = 0;
    for (int64_t b = 0; b < v->grid.bodies.count; b++)
        v->grid.bodies.data[b].pull = v->grid.bodies.data[b].turn = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < mls->holds.list.count; i++) {
        const mn_codim_hold *hold = &mls->holds.list.data[i];
        const mn_vec3 pull = mn_sub(right[hold->point], applied[hold->point]);
        const mn_vec3 way = mn_sub(mls->solution.data[hold->point], hold->jump); // W d
        const mn_codim_volume_push push = {mls->x0.data[hold->point], mn_scale(mls->holds.mass, way)};
        mn_codim_volume_body *body = &v->grid.bodies.data[hold->body];
        const mn_vec3 middle = mn_lerp(mls->x0.data[hold->point], mls->x1.data[hold->point], 0.5);
        body->pull = mn_add(body->pull, pull);
        body->turn = mn_add(body->turn, mn_cross(middle, pull));
        *sum = mn_add(*sum, pull);
        MN_TRY(mn_array_push(v->ctx, &v->coupling.pushes, &push));
    }
    return MN_OK;
}
