// SPDX-License-Identifier: Apache-2.0
//
// Slots, free chains, stars and fields of a tetrahedral mesh. What connects faces is in
// tetmesh/edit/replace.c.
#include "meniscus/tetmesh.h"

#include "tetmesh/internal.h"

#include <stdlib.h>
#include <string.h>

const int32_t mn_tet_face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
const int32_t mn_tet_edge_corners[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// ---- lists of slots ----

static int compare_slots(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

void mn_tet_list_sort_unique(mn_tet_list *list)
{
    int64_t kept = 0;
    if (list->count) qsort(list->data, (size_t)list->count, sizeof *list->data, compare_slots);
    for (int64_t i = 0; i < list->count; i++)
        if (kept == 0 || list->data[kept - 1] != list->data[i]) list->data[kept++] = list->data[i];
    list->count = kept;
}

int32_t mn_tet_list_find(const mn_tet_list *list, int32_t value)
{
    const int32_t *found =
        list->count ? bsearch(&value, list->data, (size_t)list->count, sizeof value, compare_slots) : NULL;
    return found ? (int32_t)(found - list->data) : -1;
}

// ---- life ----

mn_status mn_tet_mesh_create(mn_context *ctx, mn_tet_mesh **mesh)
{
    *mesh = NULL;
    mn_tet_mesh *m = mn_allocate_zero(ctx, sizeof *m);
    if (!m) return MN_ERROR_MEMORY;
    m->ctx = ctx;
    m->vertex_free = m->tet_free = -1;
    *mesh = m;
    return MN_OK;
}

static size_t field_bytes(const mn_tet_mesh *mesh, const mn_tet_field *field)
{
    const int64_t capacity = field->kind == MN_TET_LINEAR ? mesh->vertex_capacity : mesh->tet_capacity;
    return mn_bytes(capacity, (size_t)field->size * sizeof(double));
}

void mn_tet_mesh_free(mn_tet_mesh *mesh)
{
    if (!mesh) return;
    mn_context *ctx = mesh->ctx;
    for (int32_t i = 0; i < mesh->field_count; i++)
        mn_release(ctx, mesh->fields[i].data, field_bytes(mesh, &mesh->fields[i]));
    mn_release(ctx, mesh->fields, mn_bytes(mesh->field_capacity, sizeof *mesh->fields));
    const int64_t v = mesh->vertex_capacity, t = mesh->tet_capacity;
    mn_release(ctx, mesh->position, mn_bytes(v, sizeof *mesh->position));
    mn_release(ctx, mesh->vertex_id, mn_bytes(v, sizeof *mesh->vertex_id));
    mn_release(ctx, mesh->star_first, mn_bytes(v, sizeof *mesh->star_first));
    mn_release(ctx, mesh->boundary_faces, mn_bytes(v, sizeof *mesh->boundary_faces));
    mn_release(ctx, mesh->vertex_stamp, mn_bytes(v, sizeof *mesh->vertex_stamp));
    mn_release(ctx, mesh->vertex_flags, mn_bytes(v, sizeof *mesh->vertex_flags));
    mn_release(ctx, mesh->tet, mn_bytes(t, sizeof *mesh->tet));
    mn_release(ctx, mesh->mate, mn_bytes(t, sizeof *mesh->mate));
    mn_release(ctx, mesh->star_next, mn_bytes(t, sizeof *mesh->star_next));
    mn_release(ctx, mesh->star_previous, mn_bytes(t, sizeof *mesh->star_previous));
    mn_release(ctx, mesh->stamp, mn_bytes(t, sizeof *mesh->stamp));
    mn_release(ctx, mesh->mark, mn_bytes(t, sizeof *mesh->mark));
    mn_release(ctx, mesh->scratch, mn_bytes(mesh->scratch_capacity, sizeof *mesh->scratch));
    mn_release(ctx, mesh, sizeof *mesh);
}

// ---- growth ----

/// One array on its way from the old capacity to the new: all are allocated before any is replaced.
typedef struct growth {
    void **array;
    size_t element_size;
    void *grown;
} growth;

enum { GROWTH_MAX = 8 };

static mn_status grow_arrays(mn_tet_mesh *mesh, growth *arrays, int32_t count, int64_t used,
                             int64_t old_capacity, int64_t capacity)
{
    for (int32_t i = 0; i < count; i++) {
        arrays[i].grown = mn_allocate(mesh->ctx, mn_bytes(capacity, arrays[i].element_size));
        if (!arrays[i].grown) {
            while (i-- > 0)
                mn_release(mesh->ctx, arrays[i].grown, mn_bytes(capacity, arrays[i].element_size));
            return MN_ERROR_MEMORY;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (used > 0) memcpy(arrays[i].grown, *arrays[i].array, mn_bytes(used, arrays[i].element_size));
        mn_release(mesh->ctx, *arrays[i].array, mn_bytes(old_capacity, arrays[i].element_size));
        *arrays[i].array = arrays[i].grown;
    }
    return MN_OK;
}

static mn_status grow_owner(mn_tet_mesh *mesh, bool vertices, growth *arrays, int32_t array_count,
                            int64_t needed)
{
    const int32_t used = vertices ? mesh->vertex_slots : mesh->tet_slots;
    int32_t *capacity = vertices ? &mesh->vertex_capacity : &mesh->tet_capacity;
    if (needed <= *capacity) return MN_OK;
    if (needed > INT32_MAX / 4)
        return mn_fail(
            mesh->ctx, MN_ERROR_ARGUMENT,
            "a tetrahedral mesh of %lld elements is larger than this build can hold; use a larger size",
            (long long)needed);
    int64_t target = *capacity + *capacity / 2;
    if (target < needed) target = needed;
    if (target < 16) target = 16;
    if (target > INT32_MAX / 4) target = INT32_MAX / 4;

    growth *all = mn_allocate(mesh->ctx, mn_bytes(array_count + mesh->field_count, sizeof *all));
    if (!all) return MN_ERROR_MEMORY;
    int32_t count = 0;
    for (; count < array_count; count++) all[count] = arrays[count];
    for (int32_t i = 0; i < mesh->field_count; i++) {
        mn_tet_field *field = &mesh->fields[i];
        if ((field->kind == MN_TET_LINEAR) != vertices) continue;
        all[count++] = (growth){(void **)&field->data, (size_t)field->size * sizeof(double), NULL};
    }
    const mn_status status = grow_arrays(mesh, all, count, used, *capacity, target);
    mn_release(mesh->ctx, all, mn_bytes(array_count + mesh->field_count, sizeof *all));
    if (status == MN_OK) *capacity = (int32_t)target;
    return status;
}

mn_status mn_tet_mesh_reserve(mn_tet_mesh *mesh, int64_t more_vertices, int64_t more_tets)
{
    growth vertex_arrays[] = {
        {(void **)&mesh->position, sizeof *mesh->position, NULL},
        {(void **)&mesh->vertex_id, sizeof *mesh->vertex_id, NULL},
        {(void **)&mesh->star_first, sizeof *mesh->star_first, NULL},
        {(void **)&mesh->boundary_faces, sizeof *mesh->boundary_faces, NULL},
        {(void **)&mesh->vertex_stamp, sizeof *mesh->vertex_stamp, NULL},
        {(void **)&mesh->vertex_flags, sizeof *mesh->vertex_flags, NULL},
    };
    growth tet_arrays[] = {
        {(void **)&mesh->tet, sizeof *mesh->tet, NULL},
        {(void **)&mesh->mate, sizeof *mesh->mate, NULL},
        {(void **)&mesh->star_next, sizeof *mesh->star_next, NULL},
        {(void **)&mesh->star_previous, sizeof *mesh->star_previous, NULL},
        {(void **)&mesh->stamp, sizeof *mesh->stamp, NULL},
        {(void **)&mesh->mark, sizeof *mesh->mark, NULL},
    };
    MN_TRY(grow_owner(mesh, true, vertex_arrays, 6, mesh->vertex_count + more_vertices));
    return grow_owner(mesh, false, tet_arrays, 6, mesh->tet_count + more_tets);
}

// ---- fields ----

mn_tet_field *mn_tet_mesh_find_field(const mn_tet_mesh *mesh, const char *name)
{
    for (int32_t i = 0; i < mesh->field_count; i++)
        if (strcmp(mesh->fields[i].name, name) == 0) return &mesh->fields[i];
    return NULL;
}

mn_status mn_tet_mesh_add_field(mn_tet_mesh *mesh, const char *name, mn_tet_field_kind kind, int32_t size,
                                mn_tet_field **field)
{
    mn_tet_field *found = mn_tet_mesh_find_field(mesh, name);
    if (found && (found->kind != kind || found->size != size))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "field '%s' is there already with another kind or size",
                       name);
    if (!found) {
        if (strlen(name) >= MN_TET_FIELD_NAME_MAX || size < 1)
            return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                           "field '%.40s' needs a shorter name or a size above 0", name);
        if (mesh->field_count == mesh->field_capacity) {
            const int32_t capacity = mesh->field_capacity ? 2 * mesh->field_capacity : 4;
            mn_tet_field *grown = mn_allocate(mesh->ctx, mn_bytes(capacity, sizeof *grown));
            if (!grown) return MN_ERROR_MEMORY;
            if (mesh->field_count) memcpy(grown, mesh->fields, (size_t)mesh->field_count * sizeof *grown);
            mn_release(mesh->ctx, mesh->fields, mn_bytes(mesh->field_capacity, sizeof *grown));
            mesh->fields = grown;
            mesh->field_capacity = capacity;
        }
        mn_tet_field fresh = {.kind = kind, .size = size};
        memcpy(fresh.name, name, strlen(name) + 1);
        const size_t bytes = field_bytes(mesh, &fresh);
        fresh.data = mn_allocate_zero(mesh->ctx, bytes);
        if (bytes && !fresh.data) return MN_ERROR_MEMORY;
        found = &mesh->fields[mesh->field_count++];
        *found = fresh;
    }
    if (field) *field = found;
    return MN_OK;
}

// ---- vertices ----

void mn_tet_mesh_blend_vertex(mn_tet_mesh *mesh, int32_t vertex, int32_t parent_count, const int32_t *parents,
                              const double *weights)
{
    for (int32_t i = 0; i < mesh->field_count; i++) {
        mn_tet_field *field = &mesh->fields[i];
        if (field->kind != MN_TET_LINEAR) continue;
        for (int32_t k = 0; k < field->size; k++) {
            double sum = 0;
            for (int32_t p = 0; p < parent_count; p++)
                sum += weights[p] * field->data[(int64_t)parents[p] * field->size + k];
            field->data[(int64_t)vertex * field->size + k] = sum;
        }
    }
}

mn_status mn_tet_mesh_add_vertex(mn_tet_mesh *mesh, mn_vec3 position, int32_t parent_count,
                                 const int32_t *parents, const double *weights, int32_t *vertex)
{
    MN_TRY(mn_tet_mesh_reserve(mesh, 1, 0));
    int32_t v = mesh->vertex_free;
    if (v >= 0)
        mesh->vertex_free = mesh->star_first[v];
    else
        v = mesh->vertex_slots++;
    mesh->vertex_count++;
    mesh->position[v] = position;
    mesh->vertex_id[v] = mesh->next_vertex_id++;
    mesh->star_first[v] = -1;
    mesh->boundary_faces[v] = 0;
    mesh->vertex_stamp[v] = ++mesh->now;
    mesh->vertex_flags[v] = 0;
    mn_tet_mesh_blend_vertex(mesh, v, parent_count, parents, weights);
    *vertex = v;
    return MN_OK;
}

void mn_tet_mesh_remove_vertex(mn_tet_mesh *mesh, int32_t vertex)
{
    mesh->boundary_faces[vertex] = -1;
    mesh->star_first[vertex] = mesh->vertex_free;
    mesh->vertex_free = vertex;
    mesh->vertex_count--;
    mesh->now++;
}

void mn_tet_mesh_move_vertex(mn_tet_mesh *mesh, int32_t vertex, mn_vec3 position)
{
    mesh->position[vertex] = position;
    mesh->vertex_stamp[vertex] = ++mesh->now;
}

// ---- tetrahedra without their faces ----

static void leave_star(mn_tet_mesh *mesh, int32_t t, int32_t k)
{
    const int32_t next = mesh->star_next[t][k], previous = mesh->star_previous[t][k];
    if (next >= 0) mesh->star_previous[next / 4][next % 4] = previous;
    if (previous >= 0)
        mesh->star_next[previous / 4][previous % 4] = next;
    else
        mesh->star_first[mesh->tet[t][k]] = next;
}

static void join_star(mn_tet_mesh *mesh, int32_t t, int32_t k, int32_t v)
{
    const int32_t first = mesh->star_first[v];
    mesh->tet[t][k] = v;
    mesh->star_next[t][k] = first;
    mesh->star_previous[t][k] = -1;
    if (first >= 0) mesh->star_previous[first / 4][first % 4] = 4 * t + k;
    mesh->star_first[v] = 4 * t + k;
}

int32_t mn_tet_slot_take(mn_tet_mesh *mesh, const int32_t vertices[4])
{
    int32_t t = mesh->tet_free;
    if (t >= 0)
        mesh->tet_free = mesh->tet[t][1];
    else
        t = mesh->tet_slots++;
    mesh->tet_count++;
    mesh->stamp[t] = mesh->now;
    mesh->mark[t] = 0;
    for (int32_t k = 0; k < 4; k++) {
        mesh->mate[t][k] = -1;
        join_star(mesh, t, k, vertices[k]);
    }
    return t;
}

void mn_tet_slot_give_back(mn_tet_mesh *mesh, int32_t t)
{
    for (int32_t k = 0; k < 4; k++) leave_star(mesh, t, k);
    mesh->tet[t][0] = -1;
    mesh->tet[t][1] = mesh->tet_free;
    mesh->tet_free = t;
    mesh->tet_count--;
}

void mn_tet_corner_move(mn_tet_mesh *mesh, int32_t code, int32_t to)
{
    leave_star(mesh, code / 4, code % 4);
    join_star(mesh, code / 4, code % 4, to);
    mesh->stamp[code / 4] = ++mesh->now;
}

// ---- copies and compaction ----

mn_status mn_tet_mesh_copy(const mn_tet_mesh *mesh, mn_tet_mesh **copy)
{
    mn_tet_mesh *c;
    MN_TRY(mn_tet_mesh_create(mesh->ctx, &c));
    mn_status status;
    MN_TRY_TO(failed, status, mn_tet_mesh_reserve(c, mesh->vertex_slots, mesh->tet_slots));
    for (int32_t i = 0; i < mesh->field_count; i++) {
        const mn_tet_field *from = &mesh->fields[i];
        mn_tet_field *to;
        MN_TRY_TO(failed, status, mn_tet_mesh_add_field(c, from->name, from->kind, from->size, &to));
        const int64_t count = from->kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        if (count) memcpy(to->data, from->data, mn_bytes(count, (size_t)from->size * sizeof(double)));
    }
    const int64_t v = mesh->vertex_slots, t = mesh->tet_slots;
    if (v > 0) {
        memcpy(c->position, mesh->position, mn_bytes(v, sizeof *c->position));
        memcpy(c->vertex_id, mesh->vertex_id, mn_bytes(v, sizeof *c->vertex_id));
        memcpy(c->star_first, mesh->star_first, mn_bytes(v, sizeof *c->star_first));
        memcpy(c->boundary_faces, mesh->boundary_faces, mn_bytes(v, sizeof *c->boundary_faces));
        memcpy(c->vertex_stamp, mesh->vertex_stamp, mn_bytes(v, sizeof *c->vertex_stamp));
        memcpy(c->vertex_flags, mesh->vertex_flags, mn_bytes(v, sizeof *c->vertex_flags));
    }
    if (t > 0) {
        memcpy(c->tet, mesh->tet, mn_bytes(t, sizeof *c->tet));
        memcpy(c->mate, mesh->mate, mn_bytes(t, sizeof *c->mate));
        memcpy(c->star_next, mesh->star_next, mn_bytes(t, sizeof *c->star_next));
        memcpy(c->star_previous, mesh->star_previous, mn_bytes(t, sizeof *c->star_previous));
        memcpy(c->stamp, mesh->stamp, mn_bytes(t, sizeof *c->stamp));
        memset(c->mark, 0, mn_bytes(t, sizeof *c->mark));
    }
    c->vertex_slots = mesh->vertex_slots, c->vertex_count = mesh->vertex_count;
    c->tet_slots = mesh->tet_slots, c->tet_count = mesh->tet_count;
    c->vertex_free = mesh->vertex_free, c->tet_free = mesh->tet_free;
    c->next_vertex_id = mesh->next_vertex_id, c->now = mesh->now;
    *copy = c;
    return MN_OK;
failed:
    mn_tet_mesh_free(c);
    *copy = NULL;
    return status;
}

static int32_t mapped_code(const int32_t *map, int32_t code)
{
    return code < 0 ? -1 : 4 * map[code / 4] + code % 4;
}

static void move_field(mn_tet_field *field, int32_t from, int32_t to)
{
    memmove(field->data + (int64_t)to * field->size, field->data + (int64_t)from * field->size,
            (size_t)field->size * sizeof(double));
}

mn_status mn_tet_mesh_compact(mn_tet_mesh *mesh, int32_t *vertex_map, int32_t *tet_map)
{
    const size_t v_bytes = mn_bytes(mesh->vertex_slots, sizeof(int32_t)),
                 t_bytes = mn_bytes(mesh->tet_slots, sizeof(int32_t));
    int32_t *new_vertex = mn_allocate(mesh->ctx, v_bytes), *new_tet = mn_allocate(mesh->ctx, t_bytes);
    if ((v_bytes && !new_vertex) || (t_bytes && !new_tet)) {
        mn_release(mesh->ctx, new_vertex, v_bytes);
        mn_release(mesh->ctx, new_tet, t_bytes);
        return MN_ERROR_MEMORY;
    }
    int32_t vertices = 0, tets = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        new_vertex[v] = mn_tet_vertex_alive(mesh, v) ? vertices++ : -1;
    for (int32_t t = 0; t < mesh->tet_slots; t++) new_tet[t] = mn_tet_alive(mesh, t) ? tets++ : -1;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        const int32_t to = new_vertex[v];
        if (to < 0) continue;
        mesh->position[to] = mesh->position[v];
        mesh->vertex_id[to] = mesh->vertex_id[v];
        mesh->star_first[to] = mapped_code(new_tet, mesh->star_first[v]);
        mesh->boundary_faces[to] = mesh->boundary_faces[v];
        mesh->vertex_stamp[to] = mesh->vertex_stamp[v];
        mesh->vertex_flags[to] = mesh->vertex_flags[v];
        for (int32_t i = 0; i < mesh->field_count; i++)
            if (mesh->fields[i].kind == MN_TET_LINEAR) move_field(&mesh->fields[i], v, to);
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t to = new_tet[t];
        if (to < 0) continue;
        for (int32_t k = 0; k < 4; k++) {
            mesh->tet[to][k] = new_vertex[mesh->tet[t][k]];
            mesh->mate[to][k] = mapped_code(new_tet, mesh->mate[t][k]);
            mesh->star_next[to][k] = mapped_code(new_tet, mesh->star_next[t][k]);
            mesh->star_previous[to][k] = mapped_code(new_tet, mesh->star_previous[t][k]);
        }
        mesh->stamp[to] = mesh->stamp[t];
        mesh->mark[to] = 0;
        for (int32_t i = 0; i < mesh->field_count; i++)
            if (mesh->fields[i].kind != MN_TET_LINEAR) move_field(&mesh->fields[i], t, to);
    }
    if (vertex_map && v_bytes) memcpy(vertex_map, new_vertex, v_bytes);
    if (tet_map && t_bytes) memcpy(tet_map, new_tet, t_bytes);
    mn_release(mesh->ctx, new_vertex, v_bytes);
    mn_release(mesh->ctx, new_tet, t_bytes);
    mesh->vertex_slots = vertices, mesh->tet_slots = tets;
    mesh->vertex_free = mesh->tet_free = -1;
    mesh->mark_now = 0;
    return MN_OK;
}

// ---- questions ----

double mn_tet_volume(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    return mn_dot(mn_cross(mn_sub(b, a), mn_sub(c, a)), mn_sub(d, a)) / 6;
}

double mn_tet_mesh_tet_volume(const mn_tet_mesh *mesh, int32_t t)
{
    const int32_t *v = mesh->tet[t];
    return mn_tet_volume(mesh->position[v[0]], mesh->position[v[1]], mesh->position[v[2]],
                         mesh->position[v[3]]);
}

int32_t mn_tet_home_of(const mn_tet_mesh *mesh, int64_t count, const int32_t *tets, mn_vec3 x,
                       double weights[4])
{
    int32_t home = tets[0];
    double best = -INFINITY;
    for (int32_t k = 0; k < 4; k++) weights[k] = 0.25;
    for (int64_t i = 0; i < count; i++) {
        const double volume = mn_tet_mesh_tet_volume(mesh, tets[i]);
        double w[4], least = INFINITY;
        for (int32_t k = 0; k < 4; k++) {
            mn_vec3 p[4];
            for (int32_t j = 0; j < 4; j++) p[j] = j == k ? x : mesh->position[mesh->tet[tets[i]][j]];
            w[k] = mn_tet_volume(p[0], p[1], p[2], p[3]) / volume;
            least = fmin(least, w[k]);
        }
        if (!(volume > 0) || !(least > best)) continue;
        best = least, home = tets[i];
        memcpy(weights, w, sizeof w);
    }
    return home;
}

double mn_tet_mesh_volume(const mn_tet_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (mn_tet_alive(mesh, t)) sum += mn_tet_mesh_tet_volume(mesh, t);
    return sum;
}

int32_t mn_tet_mesh_find_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    MN_TET_STAR(mesh, a, code)
    if (mn_tet_corner_of(mesh, code / 4, b) >= 0) return code / 4;
    return -1;
}

int32_t mn_tet_mesh_find_face(const mn_tet_mesh *mesh, int32_t a, int32_t b, int32_t c)
{
    MN_TET_STAR(mesh, a, code)
    if (mn_tet_corner_of(mesh, code / 4, b) >= 0 && mn_tet_corner_of(mesh, code / 4, c) >= 0) return code / 4;
    return -1;
}
