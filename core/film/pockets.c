// SPDX-License-Identifier: Apache-2.0
//
// Pockets of gas: which shells of film sides enclose what, and how much gas is in each.
//
// Sides joined around edges (sectors.h) make shells. Of the shells of one connected film, those of positive
// volume are the outer shells of pockets; the other is how the film looks from outside, and belongs to the
// smallest pocket of another film that the film lies in, or to the air around. A film with a free edge has
// both sides in one shell and holds nothing.
//
//   k = p V for each pocket; a film can be cut, joined and moved, but gas is only ever handed over: by volume
//   when a pocket comes apart, added up when pockets join, to the ledger when it reaches the air.
#include "base/elementary.h"
#include "base/union_find.h"
#include "film/film_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { MOUTHS = 16 };
static const double NOTHING = 1e-9;  // of the cube of the size: volume of a shell that encloses nothing
static const double VANISHES = 0.03; // of the cube of the size: pockets below this go

typedef struct shell {
    double volume;
    int32_t film;   ///< connected film: its lowest vertex
    int32_t pocket; ///< it bounds
    int32_t label;  ///< region that its first side had
    bool outer;     ///< of its pocket
} shell;

typedef struct search {
    mn_film *film;
    MN_ARRAY(int32_t) parent; ///< of sides, then the number of their shell
    MN_ARRAY(int32_t) whole;  ///< of vertices: connected films
    MN_ARRAY(shell) shells;
} search;

static mn_status find_shells(search *s)
{
    const mn_complex *c = &s->film->c;
    mn_context *ctx = s->film->solver.ctx;
    const int32_t sides = (int32_t)(2 * c->triangles.count);
    MN_TRY(mn_array_resize(ctx, &s->parent, sides));
    MN_TRY(mn_array_resize(ctx, &s->whole, c->vertices.count));
    for (int32_t i = 0; i < sides; i++) s->parent.data[i] = i;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) s->whole.data[v] = v;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        if (t % 1024 == 0) MN_TRY(mn_check_cancelled(ctx));
        for (int k = 0; k < 3; k++) {
            const int32_t a = c->triangles.data[t].v[k], b = c->triangles.data[t].v[(k + 1) % 3];
            mn_edge_turn turn;
            mn_union_join(s->whole.data, a, b);
            if (!mn_edge_turn_around(c, a, b, &turn))
                return mn_fail(ctx, MN_ERROR_INPUT, "More than %d films meet at one edge.",
                               MN_COMPLEX_EDGE_MAX);
            bool first = true; // the triangle of lowest index does the edge
            for (int32_t i = 0; i < turn.count; i++) first = first && turn.triangle[i] >= t;
            for (int32_t i = 0; i < turn.count && first; i++) {
                const int32_t k2 = turn.partner[i];
                if (k2 >= 0)
                    mn_union_join(s->parent.data, 2 * turn.triangle[i] + turn.after[i],
                                  2 * turn.triangle[k2] + 1 - turn.after[k2]);
            }
        }
    }
    return MN_OK;
}

static mn_status measure_shells(search *s)
{
    const mn_complex *c = &s->film->c;
    const int32_t sides = (int32_t)s->parent.count;
    for (int32_t i = 0; i < sides; i++) mn_union_root(s->parent.data, i);
    s->shells.count = 0;
    for (int32_t i = 0; i < sides; i++) { // roots are the lowest of their shell, so they come first
        if (s->parent.data[i] != i && s->parent.data[i] >= 0) {
            int32_t r = i;
            while (s->parent.data[r] >= 0 && s->parent.data[r] != r) r = s->parent.data[r];
            s->parent.data[i] = s->parent.data[r];
        } else {
            const int32_t v = c->triangles.data[i / 2].v[0];
            const shell fresh = {0, mn_union_root(s->whole.data, v), 0,
                                 c->triangles.data[i / 2].region[i % 2], false};
            s->parent.data[i] = (int32_t)(-1 - s->shells.count);
            MN_TRY(mn_array_push(s->film->solver.ctx, &s->shells, &fresh));
        }
        shell *sh = &s->shells.data[-1 - s->parent.data[i]];
        const int32_t *v = c->triangles.data[i / 2].v;
        const mn_vec3 o = mn_complex_position(c, sh->film); // near the film: differences stay small
        const mn_vec3 a = mn_sub(mn_complex_position(c, v[0]), o),
                      b = mn_sub(mn_complex_position(c, v[1]), o);
        const double part = mn_dot(a, mn_cross(b, mn_sub(mn_complex_position(c, v[2]), o))) / 6;
        sh->volume += i % 2 == 0 ? part : -part;
    }
    for (int32_t i = 0; i < sides; i++) s->parent.data[i] = -1 - s->parent.data[i];
    return MN_OK;
}

// Solid angle of the shell seen from x, over 4 pi [oosterom1983]: 1 inside, 0 outside.
static double winding(const search *s, int32_t number, mn_vec3 x)
{
    const mn_complex *c = &s->film->c;
    double sum = 0;
    for (int64_t i = 0; i < s->parent.count; i++) {
        if (s->parent.data[i] != number) continue;
        const int32_t *v = c->triangles.data[i / 2].v;
        const mn_vec3 a = mn_sub(mn_complex_position(c, v[0]), x),
                      b = mn_sub(mn_complex_position(c, v[1]), x);
        const mn_vec3 d = mn_sub(mn_complex_position(c, v[2]), x);
        const double la = mn_norm(a), lb = mn_norm(b), ld = mn_norm(d);
        const double angle =
            2 * mn_atan2(mn_dot(a, mn_cross(b, d)),
                         la * lb * ld + mn_dot(a, b) * ld + mn_dot(b, d) * la + mn_dot(d, a) * lb);
        sum += i % 2 == 0 ? angle : -angle;
    }
    return sum / (4 * MN_PI);
}

// The pocket of the smallest outer shell around x that belongs to another film than `but`; 0 outside of all.
static int32_t pocket_around(const search *s, mn_vec3 x, int32_t but)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t k = 0; k < (int32_t)s->shells.count; k++) {
        const shell *sh = &s->shells.data[k];
        if (sh->pocket == 0 || sh->film == but || !(sh->volume > 0) || sh->volume >= least) continue;
        if (winding(s, k, x) > 0.5) least = sh->volume, best = sh->pocket;
    }
    return best;
}

// Of a shell that encloses nothing: how a film looks from outside, or both sides of a loose sheet. Labels
// know; a sheet that flies through a wall takes no gas along. Only what is new is found by its place.
static int32_t pocket_of_inner(const search *s, const shell *sh, bool fresh)
{
    int32_t same = 0, count = 0;
    for (int64_t k = 0; k < s->shells.count; k++)
        if (s->shells.data[k].pocket > 0 && s->shells.data[k].label == sh->label) {
            if (count++ == 0) same = s->shells.data[k].pocket;
        }
    if (sh->label > 0 && count == 1) return same;
    if (sh->label == 0 && count == 0 && !fresh) return 0;
    return pocket_around(s, mn_complex_position(&s->film->c, sh->film), sh->film);
}

static int32_t number_pockets(search *s)
{
    const double size = s->film->def.size, least = NOTHING * size * size * size;
    int32_t count = 1, highest = 0;
    for (int64_t k = 0; k < s->shells.count; k++)
        if (s->shells.data[k].label != MN_COMPLEX_LIQUID && s->shells.data[k].label > highest)
            highest = s->shells.data[k].label;
    for (int32_t pass = 0; pass < 2; pass++) // in the order of the labels that they had; the unlabelled last
        for (int32_t label = pass == 0 ? 1 : 0; label <= (pass == 0 ? highest : 0); label++)
            for (int64_t k = 0; k < s->shells.count; k++)
                if (s->shells.data[k].label == label && s->shells.data[k].volume > least)
                    s->shells.data[k].pocket = count++, s->shells.data[k].outer = true;
    return count;
}

// The excess pressures that balance tension best, into film->excess: least squares over all vertices.
static mn_status balanced_excess(mn_film *film)
{
    const int64_t n = film->c.vertices.count, pockets = film->pockets.count;
    MN_TRY(mn_film_measure_pockets(film));
    MN_TRY(mn_film_system_matrix(film, film->x0.data));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->inverse, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->right, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->excess, pockets));
    for (int64_t v = 0; v < n; v++) {
        // What pulls at a volume is not for the gas to balance.
        film->inverse.data[v] = mn_complex_wet(&film->c, (int32_t)v) ? 0 : 1;
        film->right.data[v] =
            mn_scale(film->inverse.data[v],
                     mn_film_allowed(film, v, mn_film_system_row(&film->system, film->x0.data, v)));
    }
    const double size = film->def.size;
    for (int64_t b = 0; b < pockets; b++) film->excess.data[b] = 1e-12 * size * size * size * size;
    MN_TRY(mn_film_pockets_factor(film, film->inverse.data, film->excess.data));
    MN_TRY(mn_film_pockets_gather(film, film->right.data, film->excess.data));
    mn_film_pockets_solve(film, film->excess.data);
    film->excess.data[0] = 0;
    return MN_OK;
}

static mn_status balance_pockets(mn_film *film, const uint8_t *fresh)
{
    const int64_t pockets = film->pockets.count;
    MN_TRY(balanced_excess(film));
    for (int64_t b = 1; b < pockets; b++) {
        mn_film_pocket *pocket = &film->pockets.data[b];
        if (!fresh[b] && film->solver.time > 0) continue; // at the start all are balanced again
        film->ledger.gas_in -= pocket->amount;
        const double p =
            fmax(film->def.ambient_pressure + film->excess.data[b], 0.5 * film->def.ambient_pressure);
        pocket->amount =
            p * fmax(pocket->volume, 0); // films through each other may enclose less than nothing
        pocket->excess = p - film->def.ambient_pressure;
        film->ledger.gas_in += pocket->amount;
    }
    return MN_OK;
}

// Gas of the old pocket goes to the new ones that have sides of it.
static mn_status hand_over(search *s, const mn_film_pocket *old, int32_t label, mn_film_pocket *fresh,
                           uint8_t *unknown, int32_t count, uint8_t *touched)
{
    mn_film *film = s->film;
    mn_fill_bytes(touched, 0, (size_t)count);
    for (int64_t i = 0; i < s->parent.count; i++)
        if (film->c.triangles.data[i / 2].region[i % 2] == label &&
            (s->shells.data[s->parent.data[i]].outer || s->shells.data[s->parent.data[i]].pocket == 0))
            touched[s->shells.data[s->parent.data[i]].pocket] = 1;
    double total = 0;
    for (int32_t b = 1; b < count; b++) total += touched[b] ? fresh[b].volume : 0;
    const double per_volume = old->volume > 0 ? old->amount / old->volume : 0;
    double left = old->amount;
    for (int32_t b = 1; b < count; b++) {
        if (!touched[b] || !(total > 0)) continue;
        double share = old->amount * fresh[b].volume / total;
        if (touched[0]) share = fmin(share, per_volume * fresh[b].volume);
        fresh[b].amount += share;
        left -= share;
        unknown[b] = 0;
        if (fresh[b].target == 0 && old->target > 0) fresh[b].target = old->target * fresh[b].volume / total;
    }
    film->ledger.gas_out += left;
    return MN_OK;
}

// The higher region behind: films of one kind face one way, and bubbles face out.
static mn_status face_outwards(mn_complex *c)
{
    for (int64_t i = 0; i < c->triangles.count; i++) {
        mn_complex_triangle *t = &c->triangles.data[i];
        if (t->region[0] >= t->region[1]) continue;
        const int32_t v = t->v[1], region = t->region[0];
        t->v[1] = t->v[2], t->v[2] = v;
        t->region[0] = t->region[1], t->region[1] = region;
    }
    return mn_complex_compact(c); // stars anew
}

static mn_status relabel(search *s, bool fresh)
{
    mn_film *film = s->film;
    const int32_t count = number_pockets(s);
    MN_ARRAY(mn_film_pocket) pockets = {0};
    MN_ARRAY(uint8_t) unknown = {0}, touched = {0};
    mn_status status = MN_OK;
    MN_TRY_TO(out, status, mn_array_resize(film->solver.ctx, &pockets, count));
    MN_TRY_TO(out, status, mn_array_resize(film->solver.ctx, &unknown, count));
    MN_TRY_TO(out, status, mn_array_resize(film->solver.ctx, &touched, count));
    mn_fill_bytes(pockets.data, 0, mn_bytes(count, sizeof(mn_film_pocket)));
    mn_fill_bytes(unknown.data, 1, (size_t)count);
    for (int64_t k = 0; k < s->shells.count; k++)
        if (s->shells.data[k].pocket > 0)
            pockets.data[s->shells.data[k].pocket].volume = s->shells.data[k].volume;
    for (int64_t k = 0; k < s->shells.count; k++) { // films inside of pockets
        shell *sh = &s->shells.data[k];
        if (sh->pocket == 0 && sh->label != MN_COMPLEX_LIQUID)
            sh->pocket = -1 - pocket_of_inner(s, sh, fresh);
    }
    for (int64_t k = 0; k < s->shells.count; k++) {
        shell *sh = &s->shells.data[k];
        if (sh->pocket >= 0) continue;
        sh->pocket = -1 - sh->pocket;
        pockets.data[sh->pocket].volume += sh->pocket > 0 ? sh->volume : 0;
    }
    for (int32_t label = 1; label < (int32_t)film->pockets.count; label++)
        MN_TRY_TO(
            out, status,
            hand_over(s, &film->pockets.data[label], label, pockets.data, unknown.data, count, touched.data));
    for (int64_t i = 0; i < s->parent.count; i++)
        if (film->c.triangles.data[i / 2].region[i % 2] != MN_COMPLEX_LIQUID)
            film->c.triangles.data[i / 2].region[i % 2] = s->shells.data[s->parent.data[i]].pocket;
    MN_TRY_TO(out, status, face_outwards(&film->c));
    MN_TRY_TO(out, status, mn_array_resize(film->solver.ctx, &film->pockets, count));
    mn_copy_bytes(film->pockets.data, pockets.data, mn_bytes(count, sizeof(mn_film_pocket)));
    film->stale = true;
    if (fresh) {
        MN_TRY_TO(out, status, balance_pockets(film, unknown.data));
    } else {
        for (int32_t b = 1; b < count; b++)
            if (unknown.data[b]) { // air that was closed in
                film->pockets.data[b].amount =
                    film->def.ambient_pressure * fmax(film->pockets.data[b].volume, 0);
                film->ledger.gas_in += film->pockets.data[b].amount;
            }
    }
    MN_TRY_TO(out, status, mn_film_measure_pockets(film));
out:
    mn_array_free(film->solver.ctx, &pockets);
    mn_array_free(film->solver.ctx, &unknown);
    mn_array_free(film->solver.ctx, &touched);
    return status;
}

mn_status mn_film_find_pockets(mn_film *film, bool fresh)
{
    search s = {.film = film};
    MN_TRY(mn_complex_compact(&film->c));
    mn_status status = find_shells(&s);
    if (status == MN_OK) status = measure_shells(&s);
    if (status == MN_OK) status = relabel(&s, fresh);
    mn_array_free(film->solver.ctx, &s.parent);
    mn_array_free(film->solver.ctx, &s.whole);
    mn_array_free(film->solver.ctx, &s.shells);
    return status;
}

mn_status mn_film_measure_pockets(mn_film *film)
{
    const int64_t n = film->c.vertices.count;
    if (film->stale) MN_TRY(mn_film_system_pattern(film));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->x0, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->measured, film->pockets.count));
    for (int64_t v = 0; v < n; v++) film->x0.data[v] = mn_complex_position(&film->c, (int32_t)v);
    film->origin = n > 0 ? film->x0.data[0] : mn_v3(0, 0, 0);
    MN_TRY(mn_film_system_volumes(film, film->x0.data, film->measured.data));
    for (int64_t b = 1; b < film->pockets.count; b++) {
        mn_film_pocket *pocket = &film->pockets.data[b];
        pocket->volume = film->measured.data[b];
        pocket->excess = film->def.gas && pocket->amount > 0 && pocket->volume > 0
                             ? pocket->amount / pocket->volume - film->def.ambient_pressure
                             : 0;
    }
    return MN_OK;
}

// Moves of the mesh change volumes a little, and gas is stiff: a thousandth of a bubble is more than all of
// its excess pressure. Vertices are moved along the gradients, by their masses, until pockets have the
// volumes that they had; the centre of mass stays.
mn_status mn_film_restore_volumes(mn_film *film)
{
    const int64_t n = film->c.vertices.count, pockets = film->pockets.count;
    if (!film->def.gas || pockets < 2) return MN_OK;
    if (film->stale) MN_TRY(mn_film_system_pattern(film));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->x0, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->scratch, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->inverse, n));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->measured, pockets));
    MN_TRY(mn_array_resize(film->solver.ctx, &film->part, pockets));
    for (int64_t v = 0; v < n; v++) {
        film->x0.data[v] = mn_complex_position(&film->c, (int32_t)v);
        const double mass = film->c.vertices.data[v].mass;
        film->inverse.data[v] = mass > 0 && !mn_complex_wet(&film->c, (int32_t)v) ? 1 / mass : 0;
    }
    film->origin = n > 0 ? film->x0.data[0] : mn_v3(0, 0, 0);
    for (int32_t pass = 0; pass < 2; pass++) {
        double *missing = film->measured.data;
        MN_TRY(mn_film_system_volumes(film, film->x0.data, missing));
        for (int64_t b = 0; b < pockets; b++) {
            const mn_film_pocket *pocket = &film->pockets.data[b];
            const double gap = pocket->volume - missing[b];
            const bool mend = b > 0 && pocket->amount > 0 && fabs(gap) < 0.05 * pocket->volume;
            missing[b] = mend ? gap : 0;
            film->part.data[b] = mend ? 0 : 1e300;
        }
        MN_TRY(mn_film_pockets_factor(film, film->inverse.data, film->part.data));
        mn_film_pockets_solve(film, missing);
        mn_fill_bytes(film->scratch.data, 0, mn_bytes(n, sizeof(mn_vec3)));
        MN_TRY(mn_film_pockets_scatter(film, missing, 1, film->scratch.data));
        double most = 0;
        for (int64_t v = 0; v < n; v++) {
            film->scratch.data[v] =
                mn_film_allowed(film, v, mn_scale(film->inverse.data[v], film->scratch.data[v]));
            most = fmax(most, mn_norm(film->scratch.data[v]));
        }
        if (!(most < 0.1 * film->def.size)) break;
        for (int64_t v = 0; v < n; v++) film->x0.data[v] = mn_add(film->x0.data[v], film->scratch.data[v]);
    }
    for (int64_t v = 0; v < n; v++) film->c.vertices.data[v].position = film->x0.data[v];
    return MN_OK;
}

mn_status mn_film_join_regions(mn_film *film, int32_t a, int32_t b)
{
    const int32_t kept = a < b ? a : b, gone = a < b ? b : a;
    if (kept == gone) return MN_OK;
    for (int64_t t = 0; t < film->c.triangles.count; t++)
        for (int side = 0; side < 2; side++)
            if (film->c.triangles.data[t].region[side] == gone) film->c.triangles.data[t].region[side] = kept;
    mn_film_pocket *from = &film->pockets.data[gone], *to = &film->pockets.data[kept];
    if (kept == 0) {
        film->ledger.gas_out += from->amount;
    } else {
        to->amount += from->amount;
        to->volume += from->volume;
        if (to->target > 0 && from->target > 0) to->target += from->target;
    }
    *from = (mn_film_pocket){0};
    film->stale = true;
    return MN_OK;
}

// Gas is so stiff that what a step lets through changes the pressure by more than all of the excess: it is
// driven by the pressure that balances tension instead of the one at the moment.
static mn_status diffuse_gas(mn_film *film, double dt)
{
    MN_TRY(balanced_excess(film));
    const double *excess = film->excess.data;
    for (int64_t t = 0; t < film->c.triangles.count; t++) {
        const int32_t a = film->c.triangles.data[t].region[0], b = film->c.triangles.data[t].region[1];
        if (a == b || film->c.triangles.data[t].v[0] < 0 || !mn_complex_is_film(&film->c, (int32_t)t))
            continue;
        const double through = dt * film->def.diffusion * film->def.ambient_pressure *
                               mn_complex_area(&film->c, (int32_t)t) * (excess[a] - excess[b]);
        if (a > 0) film->pockets.data[a].amount -= through;
        if (b > 0) film->pockets.data[b].amount += through;
        if (a == 0) film->ledger.gas_in += through;
        if (b == 0) film->ledger.gas_out += through;
    }
    return MN_OK;
}

mn_status mn_film_move_gas(mn_film *film, double dt)
{
    if (film->def.diffusion > 0 && film->def.gas && film->pockets.count > 1) MN_TRY(diffuse_gas(film, dt));
    const mn_film_inputs *in = film->inputs;
    const int64_t pricks = in && film->def.inflow != 0 ? in->prick_count : 0;
    // A few of a mesh's points find the same pockets as all of them.
    const int64_t shared = pricks < MOUTHS ? pricks : MOUTHS;
    if (!in || in->inflow_count + shared == 0 || film->pockets.count < 2) return MN_OK;
    search s = {.film = film};
    mn_status status = find_shells(&s);
    if (status == MN_OK) status = measure_shells(&s);
    if (status == MN_OK) {
        for (int64_t k = 0; k < s.shells.count; k++)
            s.shells.data[k].pocket = s.shells.data[k].volume > 0 ? s.shells.data[k].label : 0;
        for (int64_t i = 0; i < in->inflow_count + shared; i++) {
            const bool own = i < in->inflow_count;
            const mn_vec3 x =
                own ? in->inflow_positions[i] : in->pricks[(i - in->inflow_count) * pricks / shared];
            const double rate = own ? in->inflow_rates[i] : film->def.inflow / (double)shared;
            const int32_t b = pocket_around(&s, x, -1);
            if (b == 0) continue;
            const double before = film->pockets.data[b].amount;
            film->pockets.data[b].amount = fmax(0, before + dt * rate * film->def.ambient_pressure);
            film->ledger.gas_in += film->pockets.data[b].amount - before;
        }
    }
    mn_array_free(film->solver.ctx, &s.parent);
    mn_array_free(film->solver.ctx, &s.whole);
    mn_array_free(film->solver.ctx, &s.shells);
    return status;
}

mn_status mn_film_vanish_pockets(mn_film *film)
{
    const double size = film->def.size, least = VANISHES * size * size * size;
    for (int32_t b = 1; b < (int32_t)film->pockets.count; b++) {
        mn_film_pocket *pocket = &film->pockets.data[b];
        if (!(pocket->amount > 0) || pocket->volume > least) continue;
        MN_ARRAY(double) border = {0};
        MN_TRY(mn_array_resize(film->solver.ctx, &border, film->pockets.count));
        mn_fill_bytes(border.data, 0, mn_bytes(film->pockets.count, sizeof(double)));
        double all = 0;
        for (int64_t t = 0; t < film->c.triangles.count; t++) {
            const mn_complex_triangle *triangle = &film->c.triangles.data[t];
            if (triangle->v[0] < 0 || (triangle->region[0] == b) == (triangle->region[1] == b) ||
                !mn_complex_is_film(&film->c, (int32_t)t))
                continue;
            const double area = mn_complex_area(&film->c, (int32_t)t);
            border.data[triangle->region[triangle->region[0] == b]] += area;
            all += area;
        }
        if (all > 0 && mn_film_vanish(&film->c, b, size)) {
            for (int32_t k = 0; k < (int32_t)film->pockets.count; k++) {
                const double share = pocket->amount * border.data[k] / all;
                if (k == 0)
                    film->ledger.gas_out += share;
                else
                    film->pockets.data[k].amount += share;
            }
            *pocket = (mn_film_pocket){0};
            film->ledger.vanished++;
            film->stale = true;
        }
        mn_array_free(film->solver.ctx, &border);
    }
    return MN_OK;
}
