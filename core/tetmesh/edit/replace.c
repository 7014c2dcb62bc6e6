// SPDX-License-Identifier: Apache-2.0
//
// Connecting faces: a mesh from arrays, and the exchange of some tetrahedra for others.
//
// A face is found by its three vertices in rising order, in a hash table with linear probing. Everything that
// can fail (memory, a third tetrahedron on a face) happens before the first change.
#include "meniscus/tetmesh.h"

#include "tetmesh/internal.h"

#include <string.h>

// ---- a mesh from arrays ----

static mn_status check_arrays(mn_context *ctx, int64_t vertex_count, const mn_vec3 *positions,
                              int64_t tet_count, const int32_t (*tets)[4])
{
    for (int64_t v = 0; v < vertex_count; v++)
        if (!mn_is_finite3(positions[v]))
            return mn_fail(ctx, MN_ERROR_INPUT, "point %lld has a position that is not finite; remove it",
                           (long long)v);
    for (int64_t t = 0; t < tet_count; t++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = tets[t][k];
            if (v < 0 || v >= vertex_count)
                return mn_fail(ctx, MN_ERROR_INPUT,
                               "tetrahedron %lld refers to point %d, which does not exist", (long long)t, v);
            for (int32_t j = 0; j < k; j++)
                if (tets[t][j] == v)
                    return mn_fail(ctx, MN_ERROR_INPUT, "tetrahedron %lld uses point %d twice; remove it",
                                   (long long)t, v);
        }
    return MN_OK;
}

/// Gives every face its mate. `table` has a power of two of entries, all -1.
static mn_status connect_all(mn_tet_mesh *mesh, int32_t *table, uint32_t mask)
{
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) {
            int32_t key[3], other[3];
            mn_tet_face_key(mesh->tet[t], k, key);
            uint32_t at = mn_tet_face_hash(key) & mask;
            for (; table[at] >= 0; at = (at + 1) & mask) {
                const int32_t code = table[at];
                mn_tet_face_key(mesh->tet[code / 4], code % 4, other);
                if (memcmp(key, other, sizeof key) != 0) continue;
                if (mesh->mate[code / 4][code % 4] >= 0)
                    return mn_fail(
                        mesh->ctx, MN_ERROR_INPUT,
                        "tetrahedra %d, %d and %d share the face %d, %d, %d; only two may: remove one",
                        code / 4, mesh->mate[code / 4][code % 4] / 4, t, key[0], key[1], key[2]);
                mesh->mate[code / 4][code % 4] = 4 * t + k;
                mesh->mate[t][k] = code;
                break;
            }
            if (table[at] < 0) table[at] = 4 * t + k;
        }
    return MN_OK;
}

static uint32_t table_size(int64_t faces)
{
    uint32_t size = 16;
    while (size < 2 * faces && size < 1u << 31) size *= 2;
    return size;
}

static void count_boundary(mn_tet_mesh *mesh, int32_t t, int32_t face, int32_t change)
{
    for (int32_t i = 0; i < 3; i++)
        mesh->boundary_faces[mesh->tet[t][mn_tet_face_corners[face][i]]] += change;
}

mn_status mn_tet_mesh_build(mn_context *ctx, int64_t vertex_count, const mn_vec3 *positions,
                            int64_t tet_count, const int32_t (*tets)[4], mn_tet_mesh **mesh)
{
    *mesh = NULL;
    if (vertex_count > INT32_MAX / 4 || tet_count > INT32_MAX / 4)
        return mn_fail(ctx, MN_ERROR_INPUT, "%lld tetrahedra are more than one mesh can hold",
                       (long long)tet_count);
    MN_TRY(check_arrays(ctx, vertex_count, positions, tet_count, tets));
    mn_tet_mesh *m;
    MN_TRY(mn_tet_mesh_create(ctx, &m));
    mn_status status;
    int32_t *table = NULL;
    const uint32_t size = table_size(3 * tet_count);
    MN_TRY_TO(done, status, mn_tet_mesh_reserve(m, vertex_count, tet_count));
    table = mn_allocate(ctx, mn_bytes(size, sizeof *table));
    if (!table) {
        status = MN_ERROR_MEMORY;
        goto done;
    }
    memset(table, 0xff, mn_bytes(size, sizeof *table));
    for (int64_t v = 0; v < vertex_count; v++) {
        int32_t slot;
        MN_TRY_TO(done, status, mn_tet_mesh_add_vertex(m, positions[v], 0, NULL, NULL, &slot));
    }
    m->now++;
    for (int64_t t = 0; t < tet_count; t++) mn_tet_slot_take(m, tets[t]);
    MN_TRY_TO(done, status, connect_all(m, table, size - 1));
    for (int32_t t = 0; t < m->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++)
            if (m->mate[t][k] < 0) count_boundary(m, t, k, 1);
    *mesh = m;
done:
    mn_release(ctx, table, mn_bytes(size, sizeof *table));
    if (status != MN_OK) mn_tet_mesh_free(m);
    return status;
}

// ---- some tetrahedra for others ----

/// The faces of one exchange. Entry i is face i % 4 of new tetrahedron i / 4 for i < 4 new_count, then the
/// outer faces of the old ones as codes of the tetrahedra that stay.
typedef struct exchange {
    const int32_t (*new_tets)[4];
    int32_t new_count;
    int32_t outer_count, cavity_count; ///< all outer faces; those before this one had an old mate
    int32_t *outer;                    ///< codes, on the side that stays
    int32_t *partner;                  ///< per entry: the entry on the other side, -1 for none
    int32_t *table;
    uint32_t mask;
} exchange;

static void entry_key(const mn_tet_mesh *mesh, const exchange *x, int32_t entry, int32_t key[3])
{
    if (entry < 4 * x->new_count) {
        mn_tet_face_key(x->new_tets[entry / 4], entry % 4, key);
    } else {
        const int32_t code = x->outer[entry - 4 * x->new_count];
        mn_tet_face_key(mesh->tet[code / 4], code % 4, key);
    }
}

/// False when a third tetrahedron would come to a face.
static bool match_entry(const mn_tet_mesh *mesh, exchange *x, int32_t entry)
{
    int32_t key[3], other[3];
    entry_key(mesh, x, entry, key);
    uint32_t at = mn_tet_face_hash(key) & x->mask;
    for (; x->table[at] >= 0; at = (at + 1) & x->mask) {
        const int32_t found = x->table[at];
        entry_key(mesh, x, found, other);
        if (memcmp(key, other, sizeof key) != 0) continue;
        if (x->partner[found] >= 0) return false;
        x->partner[found] = entry;
        x->partner[entry] = found;
        return true;
    }
    x->table[at] = entry;
    return true;
}

static mn_status check_exchange(mn_tet_mesh *mesh, int32_t old_count, const int32_t *old_tets,
                                int32_t new_count, const int32_t (*new_tets)[4])
{
    const uint32_t mark = mn_tet_mark_next(mesh);
    for (int32_t i = 0; i < old_count; i++) {
        const int32_t t = old_tets[i];
        if (!mn_tet_alive(mesh, t) || mesh->mark[t] == mark)
            return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "tetrahedron %d is not there or is given twice", t);
        mesh->mark[t] = mark;
    }
    for (int32_t i = 0; i < new_count; i++)
        for (int32_t k = 0; k < 4; k++) {
            bool good = mn_tet_vertex_alive(mesh, new_tets[i][k]);
            for (int32_t j = 0; j < k; j++) good = good && new_tets[i][j] != new_tets[i][k];
            if (!good)
                return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                               "vertex %d of a new tetrahedron is not there or repeats", new_tets[i][k]);
        }
    return MN_OK;
}

static mn_status reserve_scratch(mn_tet_mesh *mesh, int64_t count)
{
    if (count <= mesh->scratch_capacity) return MN_OK;
    int32_t *grown = mn_allocate(mesh->ctx, mn_bytes(2 * count, sizeof *grown));
    if (!grown) return MN_ERROR_MEMORY;
    mn_release(mesh->ctx, mesh->scratch, mn_bytes(mesh->scratch_capacity, sizeof *grown));
    mesh->scratch = grown;
    mesh->scratch_capacity = 2 * count;
    return MN_OK;
}

/// What match_faces takes of it.
static int64_t scratch_size(int64_t old_count, int64_t new_count)
{
    const int64_t outer_max = 4 * (new_count + old_count), entries = outer_max + 4 * new_count;
    return outer_max + entries + table_size(entries);
}

mn_status mn_tet_scratch_reserve(mn_tet_mesh *mesh, int32_t new_count)
{
    return reserve_scratch(mesh, scratch_size(1, new_count));
}

/// A tetrahedron that stays and has this face, as a code; -1 when there is none.
static int32_t find_staying_face(const mn_tet_mesh *mesh, const int32_t key[3])
{
    MN_TET_STAR(mesh, key[0], code)
    {
        const int32_t t = code / 4;
        const int32_t b = mn_tet_corner_of(mesh, t, key[1]), c = mn_tet_corner_of(mesh, t, key[2]);
        if (b >= 0 && c >= 0 && mesh->mark[t] != mesh->mark_now) return 4 * t + (6 - code % 4 - b - c);
    }
    return -1;
}

/// New faces that met nobody in the cavity may lie on boundary faces that were there before.
static bool match_boundary(mn_tet_mesh *mesh, exchange *x)
{
    for (int32_t i = 0; i < 4 * x->new_count; i++) {
        if (x->partner[i] >= 0) continue;
        int32_t key[3];
        entry_key(mesh, x, i, key);
        const int32_t code = find_staying_face(mesh, key);
        if (code < 0) continue;
        if (mesh->mate[code / 4][code % 4] >= 0) return false;
        x->partner[i] = 4 * x->new_count + x->outer_count;
        x->partner[4 * x->new_count + x->outer_count] = i;
        x->outer[x->outer_count++] = code;
    }
    return true;
}

/// Who meets whom across every face; nothing has changed yet.
static mn_status match_faces(mn_tet_mesh *mesh, int32_t old_count, const int32_t *old_tets, exchange *x)
{
    const int64_t outer_max = 4 * ((int64_t)x->new_count + old_count),
                  entries = outer_max + 4 * (int64_t)x->new_count;
    const uint32_t size = table_size(entries);
    MN_TRY(reserve_scratch(mesh, scratch_size(old_count, x->new_count)));
    x->outer = mesh->scratch;
    x->partner = x->outer + outer_max;
    x->table = x->partner + entries;
    x->mask = size - 1;
    x->outer_count = 0;
    memset(x->partner, 0xff, mn_bytes(entries + size, sizeof *x->partner));
    for (int32_t i = 0; i < old_count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[old_tets[i]][k];
            if (mate >= 0 && mesh->mark[mate / 4] != mesh->mark_now) x->outer[x->outer_count++] = mate;
        }
    // Outer faces first, so that one that meets two new tetrahedra is found as well.
    for (int32_t i = 0; i < x->outer_count; i++)
        if (!match_entry(mesh, x, 4 * x->new_count + i)) goto crowded;
    for (int32_t i = 0; i < 4 * x->new_count; i++)
        if (!match_entry(mesh, x, i)) goto crowded;
    x->cavity_count = x->outer_count;
    if (match_boundary(mesh, x)) return MN_OK;
crowded:
    return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "the change would put three tetrahedra on one face");
}

/// Amounts and volume-weighted values of the old tetrahedra, one run of sums over all element fields.
static void gather_fields(const mn_tet_mesh *mesh, int32_t old_count, const int32_t *old_tets, double *sums)
{
    double volume = 0;
    for (int32_t i = 0; i < old_count; i++) volume += fabs(mn_tet_mesh_tet_volume(mesh, old_tets[i]));
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        if (field->kind == MN_TET_LINEAR) continue;
        for (int32_t k = 0; k < field->size; k++, sums++) {
            *sums = 0;
            for (int32_t i = 0; i < old_count; i++) {
                const double value = field->data[(int64_t)old_tets[i] * field->size + k];
                const double share =
                    volume > 0 ? fabs(mn_tet_mesh_tet_volume(mesh, old_tets[i])) / volume : 1.0 / old_count;
                *sums += field->kind == MN_TET_AMOUNT ? value : share * value;
            }
        }
    }
}

static void scatter_fields(mn_tet_mesh *mesh, int32_t new_count, const int32_t *slots, const double *sums)
{
    double volume = 0;
    for (int32_t i = 0; i < new_count; i++) volume += fabs(mn_tet_mesh_tet_volume(mesh, slots[i]));
    for (int32_t f = 0; f < mesh->field_count; f++) {
        mn_tet_field *field = &mesh->fields[f];
        if (field->kind == MN_TET_LINEAR) continue;
        for (int32_t k = 0; k < field->size; k++, sums++) {
            // The last takes what is left, so that the sum is that of before to the last rounding.
            double left = *sums;
            for (int32_t i = 0; i < new_count; i++) {
                double *value = &field->data[(int64_t)slots[i] * field->size + k];
                const double share =
                    volume > 0 ? fabs(mn_tet_mesh_tet_volume(mesh, slots[i])) / volume : 1.0 / new_count;
                *value = field->kind == MN_TET_VALUE ? *sums : i + 1 < new_count ? share * *sums : left;
                left -= *value;
            }
        }
    }
}

static int32_t element_components(const mn_tet_mesh *mesh)
{
    int32_t components = 0;
    for (int32_t f = 0; f < mesh->field_count; f++)
        if (mesh->fields[f].kind != MN_TET_LINEAR) components += mesh->fields[f].size;
    return components;
}

/// Puts both sides of every matched face together and counts the boundary.
static void connect_new(mn_tet_mesh *mesh, const exchange *x, const int32_t *slots)
{
    for (int32_t i = 0; i < 4 * x->new_count; i++) {
        const int32_t t = slots[i / 4], k = i % 4, partner = x->partner[i];
        if (partner < 0) {
            count_boundary(mesh, t, k, 1);
        } else if (partner < 4 * x->new_count) {
            mesh->mate[t][k] = 4 * slots[partner / 4] + partner % 4;
        } else {
            const int32_t outer = x->outer[partner - 4 * x->new_count];
            mesh->mate[t][k] = outer;
            mesh->mate[outer / 4][outer % 4] = 4 * t + k;
            if (partner - 4 * x->new_count >= x->cavity_count) count_boundary(mesh, outer / 4, outer % 4, -1);
        }
    }
    for (int32_t i = 0; i < x->cavity_count; i++) {
        if (x->partner[4 * x->new_count + i] >= 0) continue;
        const int32_t outer = x->outer[i];
        mesh->mate[outer / 4][outer % 4] = -1;
        count_boundary(mesh, outer / 4, outer % 4, 1);
    }
}

mn_status mn_tet_mesh_replace(mn_tet_mesh *mesh, int32_t old_count, const int32_t *old_tets,
                              int32_t new_count, const int32_t (*new_tets)[4], int32_t *created)
{
    enum { STACK_MAX = 128, COMPONENTS_MAX = 64 };
    MN_TRY(check_exchange(mesh, old_count, old_tets, new_count, new_tets));
    MN_TRY(mn_tet_mesh_reserve(mesh, 0, new_count));
    exchange x = {.new_tets = new_tets, .new_count = new_count};
    MN_TRY(match_faces(mesh, old_count, old_tets, &x));
    int32_t stack_slots[STACK_MAX], *slots = created ? created : stack_slots;
    double stack_sums[COMPONENTS_MAX], *sums = stack_sums;
    const int32_t components = element_components(mesh);
    if (!created && new_count > STACK_MAX) slots = mn_allocate(mesh->ctx, mn_bytes(new_count, sizeof *slots));
    if (components > COMPONENTS_MAX) sums = mn_allocate(mesh->ctx, mn_bytes(components, sizeof *sums));
    const mn_status status = slots && sums ? MN_OK : MN_ERROR_MEMORY;
    if (status == MN_OK) {
        if (components && new_count) gather_fields(mesh, old_count, old_tets, sums);
        mesh->now++;
        for (int32_t i = 0; i < old_count; i++)
            for (int32_t k = 0; k < 4; k++)
                if (mesh->mate[old_tets[i]][k] < 0) count_boundary(mesh, old_tets[i], k, -1);
        for (int32_t i = old_count; i-- > 0;) mn_tet_slot_give_back(mesh, old_tets[i]);
        for (int32_t i = 0; i < new_count; i++) slots[i] = mn_tet_slot_take(mesh, new_tets[i]);
        connect_new(mesh, &x, slots);
        if (components && new_count) scatter_fields(mesh, new_count, slots, sums);
    }
    if (slots != created && slots != stack_slots)
        mn_release(mesh->ctx, slots, mn_bytes(new_count, sizeof *slots));
    if (sums != stack_sums) mn_release(mesh->ctx, sums, mn_bytes(components, sizeof *sums));
    return status;
}
