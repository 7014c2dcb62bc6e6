// SPDX-License-Identifier: Apache-2.0
//
// Jets: volumes that come out of pipes into the complex (tetmesh/mouth.c has pipes, caps and layers).
//
// Vertices of a cap carry the number of their jet and are held: they move with its velocity v. A layer is
// three tetrahedra for each face of the cap; its mass rho V arrives with v at all of its corners, so
//
//   mass in = sum rho V,   momentum in = v sum rho V
//
// to rounding, and the ledger has both. A layer is as thick as the cap has moved when it is due, 0.7 to 1.2
// of the size: steps are not cut short for layers, for what steps leave of volumes is made good by the next
// ones, and a very short one would do it with very high pressures. Tension on a cap acts on held vertices
// alone: it does nothing.
#include "film/film_state.h"

#include "tetmesh/mouth.h"

static const double DUE = 0.7, THICKEST = 1.2; // layers, of the size

typedef MN_ARRAY(int32_t) list;

static void book(mn_film *film, int64_t first_tet, mn_vec3 velocity)
{
    double mass = 0;
    for (int64_t t = first_tet; t < film->c.tets.count; t++) mass += film->c.tets.data[t].mass;
    film->ledger.liquid_in += mass;
    film->ledger.momentum_in = mn_axpy(film->ledger.momentum_in, mass, velocity);
}

static mn_status add_tet(mn_film *film, const int32_t v[4])
{
    const mn_complex *c = &film->c;
    const double volume = mn_tet_volume(mn_complex_position(c, v[0]), mn_complex_position(c, v[1]),
                                        mn_complex_position(c, v[2]), mn_complex_position(c, v[3]));
    return mn_complex_add_tet(&film->c, v, film->def.density * volume, volume) < 0 ? MN_ERROR_MEMORY : MN_OK;
}

// ---- the slug ----

static bool has_cap(const mn_film *film, int32_t jet)
{
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        if (film->c.vertices.data[v].alive && film->c.vertices.data[v].jet == jet) return true;
    return false;
}

static mn_status put_in(mn_film *film, const mn_tet_mesh *slug, int32_t jet)
{
    mn_complex *c = &film->c;
    mn_context *ctx = film->solver.ctx;
    const mn_tet_mouth *m = &film->mouths.data[jet - 1];
    const int64_t first_tet = c->tets.count;
    list place = {0};
    mn_status status = mn_array_resize(ctx, &place, slug->vertex_slots);
    for (int32_t i = 0; i < slug->vertex_slots && status == MN_OK; i++) {
        if (!mn_tet_vertex_alive(slug, i) || slug->star_first[i] < 0) continue;
        mn_complex_vertex v = {.position = slug->position[i], .velocity = m->velocity, .wire = {-1, -1}};
        v.jet = mn_tet_mouth_caps(m, film->def.size, v.position) ? jet : 0;
        place.data[i] = mn_complex_add_vertex(c, &v);
        if (place.data[i] < 0) status = MN_ERROR_MEMORY;
    }
    for (int32_t t = 0; t < slug->tet_slots && status == MN_OK; t++) {
        int32_t v[4];
        if (!mn_tet_alive(slug, t)) continue;
        for (int k = 0; k < 4; k++) v[k] = place.data[slug->tet[t][k]];
        status = add_tet(film, v);
    }
    if (status == MN_OK) status = mn_complex_close_tets(c, first_tet, 0);
    mn_array_free(ctx, &place);
    book(film, first_tet, m->velocity);
    film->stale = true;
    return status;
}

mn_status mn_film_open_jets(mn_film *film, const mn_tet_pipe *pipe)
{
    const int64_t before = film->mouths.count;
    int32_t jet = 0;
    bool faster;
    MN_TRY(mn_tet_mouths_open(film->solver.ctx, film->def.size, pipe, &film->mouths, &faster));
    for (int64_t v = 0; v < film->c.vertices.count && film->mouths.count != before; v++)
        if (film->c.vertices.data[v].jet > 0)
            film->c.vertices.data[v].jet = 0; // other pipes: the caps of the old ones are let go
    for (; pipe && jet < film->mouths.count; pipe = pipe->next) {
        mn_tet_mouth *m = &film->mouths.data[jet++];
        if (!(m->area > 0) || has_cap(film, jet)) continue;
        m->moved = 0;
        MN_TRY(put_in(film, pipe->slug, jet));
    }
    return MN_OK;
}

// ---- layers ----

static bool is_cap_face(const mn_complex *c, const mn_complex_triangle *t, int32_t jet)
{
    if (t->v[0] < 0 || mn_complex_liquid_side(t) < 0) return false;
    for (int k = 0; k < 3; k++)
        if (c->vertices.data[t->v[k]].jet != jet) return false;
    return true;
}

static mn_status add_prism(mn_film *film, const int32_t front[3], const list *behind)
{
    const mn_complex *c = &film->c;
    mn_vec3 front_x[3], behind_x[3];
    int32_t b[3], tets[3][4];
    for (int k = 0; k < 3; k++) {
        b[k] = behind->data[front[k]];
        front_x[k] = mn_complex_position(c, front[k]), behind_x[k] = mn_complex_position(c, b[k]);
    }
    mn_tet_prism(front, b, front_x, behind_x, tets);
    for (int i = 0; i < 3; i++) MN_TRY(add_tet(film, tets[i]));
    return MN_OK;
}

// A vertex in the mouth for each on the cap, which is free from then on.
static mn_status add_behind(mn_film *film, int32_t jet, list *behind)
{
    mn_complex *c = &film->c;
    const mn_tet_mouth *m = &film->mouths.data[jet - 1];
    const int64_t count = c->vertices.count;
    MN_TRY(mn_array_resize(film->solver.ctx, behind, count));
    for (int32_t i = 0; i < (int32_t)count; i++) {
        behind->data[i] = -1;
        mn_complex_vertex v = c->vertices.data[i];
        if (!v.alive || v.jet != jet) continue;
        v.position = mn_axpy(v.position, m->begin - mn_tet_mouth_along(m, v.position), m->along);
        v.velocity = m->velocity, v.mass = 0;
        behind->data[i] = mn_complex_add_vertex(c, &v);
        if (behind->data[i] < 0) return MN_ERROR_MEMORY;
        c->vertices.data[behind->data[i]].pressure = v.pressure;
        c->vertices.data[i].jet = 0;
        c->vertices.data[i].velocity = m->velocity;
    }
    return MN_OK;
}

static mn_status add_layer(mn_film *film, int32_t jet, list *faces, list *behind)
{
    mn_complex *c = &film->c;
    const int64_t first_tet = c->tets.count;
    int32_t outside = 0;
    faces->count = 0;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++)
        if (is_cap_face(c, &c->triangles.data[t], jet)) MN_TRY(mn_array_push(film->solver.ctx, faces, &t));
    MN_TRY(add_behind(film, jet, behind));
    for (int64_t i = 0; i < faces->count; i++) {
        const mn_complex_triangle t = c->triangles.data[faces->data[i]];
        outside = t.region[1 - mn_complex_liquid_side(&t)];
        mn_complex_remove_triangle(c, faces->data[i]);
        MN_TRY(add_prism(film, t.v, behind));
    }
    MN_TRY(mn_complex_close_tets(c, first_tet, outside));
    book(film, first_tet, film->mouths.data[jet - 1].velocity);
    return MN_OK;
}

double mn_film_jets_limit(const mn_film *film)
{
    return mn_tet_mouths_next_layer(film->mouths.data, film->mouths.count, THICKEST * film->def.size);
}

mn_status mn_film_emit(mn_film *film, double dt)
{
    list faces = {0}, behind = {0};
    mn_status status = MN_OK;
    bool any = false;
    mn_tet_mouths_move(film->mouths.data, film->mouths.count, dt);
    for (int32_t k = 0; k < (int32_t)film->mouths.count && status == MN_OK; k++) {
        if (!mn_tet_mouth_is_due(&film->mouths.data[k], DUE * film->def.size)) continue;
        film->mouths.data[k].moved = 0;
        status = add_layer(film, k + 1, &faces, &behind);
        any = true;
    }
    mn_array_free(film->solver.ctx, &faces);
    mn_array_free(film->solver.ctx, &behind);
    if (status != MN_OK || !any) return status;
    film->stale = true;
    return mn_complex_compact(&film->c);
}
