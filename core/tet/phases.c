// SPDX-License-Identifier: Apache-2.0
//
// Which pressures there are where nodes have one for each phase, and where they stand in the equations.
#include "meniscus/array.h"
#include "tet/system.h"

#include <stdlib.h>
#include <string.h>

void mn_tet_phases_free(mn_context *ctx, mn_tet_phases *phases)
{
    mn_array_free(ctx, &phases->of);
    mn_array_free(ctx, &phases->node);
    mn_array_free(ctx, &phases->row_start);
    mn_array_free(ctx, &phases->column);
    mn_array_free(ctx, &phases->slot);
    mn_array_free(ctx, &phases->node_start);
    mn_array_free(ctx, &phases->node_row);
    mn_array_free(ctx, &phases->node_slot);
    mn_array_free(ctx, &phases->b);
    mn_array_free(ctx, &phases->place);
    memset(phases, 0, sizeof *phases);
}

static bool has_one_class(const mn_tet_system *s, const int32_t *class_of)
{
    for (int32_t i = 0; class_of && i < s->node_count; i++)
        for (int32_t c = s->corner_start.data[i] + 1; c < s->corner_start.data[i + 1]; c++)
            if (class_of[s->corner.data[c] / 4] != class_of[s->corner.data[c - 1] / 4]) return false;
    return true;
}

// The lowest class at a node has the node's number; the others come after all nodes.
static mn_status number_pressures(mn_tet_system *s, const int32_t *class_of)
{
    mn_tet_phases *phases = &s->phases;
    MN_TRY(mn_array_resize(s->ctx, &phases->of, 4 * (int64_t)s->tet_count));
    MN_TRY(mn_array_resize(s->ctx, &phases->node, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++) {
        phases->node.data[i] = i;
        int32_t last = INT32_MIN;
        for (bool first = true;; first = false) {
            int32_t next = INT32_MAX, number = i;
            for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
                const int32_t found = class_of[s->corner.data[c] / 4];
                if (found > last && found < next) next = found;
            }
            if (next == INT32_MAX) break;
            if (!first) {
                number = (int32_t)phases->node.count;
                MN_TRY(mn_array_push(s->ctx, &phases->node, &i));
            }
            for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++)
                if (class_of[s->corner.data[c] / 4] == next) phases->of.data[s->corner.data[c]] = number;
            last = next;
        }
    }
    phases->count = (int32_t)phases->node.count;
    return MN_OK;
}

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static mn_status list_rows(mn_tet_system *s)
{
    mn_tet_phases *phases = &s->phases;
    MN_ARRAY(int32_t) seen = {0};
    phases->column.count = 0;
    MN_TRY(mn_array_resize(s->ctx, &phases->row_start, phases->count + 1));
    MN_TRY(mn_array_resize(s->ctx, &seen, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++) seen.data[i] = -1;
    mn_status status = MN_OK;
    for (int32_t d = 0; d < phases->count && status == MN_OK; d++) {
        const int32_t i = phases->node.data[d];
        const int64_t begin = phases->column.count;
        phases->row_start.data[d] = (int32_t)begin;
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
            if (phases->of.data[s->corner.data[c]] != d) continue;
            for (int k = 0; k < 4 && status == MN_OK; k++) {
                const int32_t j = s->tet[s->corner.data[c] / 4][k];
                if (seen.data[j] == d) continue;
                seen.data[j] = d;
                status = mn_array_push(s->ctx, &phases->column, &j);
            }
        }
        qsort(phases->column.data + begin, (size_t)(phases->column.count - begin), sizeof(int32_t), by_index);
    }
    phases->row_start.data[phases->count] = (int32_t)phases->column.count;
    mn_array_free(s->ctx, &seen);
    return status;
}

static mn_status list_slots(mn_tet_system *s)
{
    mn_tet_phases *phases = &s->phases;
    MN_TRY(mn_array_resize(s->ctx, &phases->slot, 16 * (int64_t)s->tet_count));
    for (int32_t code = 0; code < 4 * s->tet_count; code++) {
        const int32_t d = phases->of.data[code], begin = phases->row_start.data[d];
        for (int j = 0; j < 4; j++) {
            const int32_t *row = phases->column.data + begin;
            const int32_t *at =
                bsearch(&s->tet[code / 4][j], row, (size_t)(phases->row_start.data[d + 1] - begin),
                        sizeof *row, by_index);
            phases->slot.data[4 * (int64_t)code + j] = begin + (int32_t)(at - row);
        }
    }
    return MN_OK;
}

// The same by nodes: rows in rising order.
static mn_status list_by_nodes(mn_tet_system *s)
{
    mn_tet_phases *phases = &s->phases;
    const int64_t entries = phases->column.count;
    MN_TRY(mn_array_resize(s->ctx, &phases->node_start, s->node_count + 1));
    MN_TRY(mn_array_resize(s->ctx, &phases->node_row, entries));
    MN_TRY(mn_array_resize(s->ctx, &phases->node_slot, entries));
    int32_t *start = phases->node_start.data;
    mn_fill_bytes(start, 0, mn_bytes(s->node_count + 1, sizeof *start));
    for (int64_t c = 0; c < entries; c++) start[phases->column.data[c] + 1]++;
    for (int32_t i = 0; i < s->node_count; i++) start[i + 1] += start[i];
    for (int32_t d = 0; d < phases->count; d++)
        for (int32_t c = phases->row_start.data[d]; c < phases->row_start.data[d + 1]; c++) {
            const int32_t at = start[phases->column.data[c]]++;
            phases->node_row.data[at] = d, phases->node_slot.data[at] = c;
        }
    for (int32_t i = s->node_count; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
    return MN_OK;
}

mn_status mn_tet_system_split(mn_tet_system *s, const int32_t *class_of)
{
    mn_tet_phases *phases = &s->phases;
    s->analyzed = s->factored = s->stiff_analyzed = false;
    phases->split = false, phases->count = s->node_count;
    if (has_one_class(s, class_of)) return MN_OK;
    MN_TRY(number_pressures(s, class_of));
    MN_TRY(list_rows(s));
    MN_TRY(list_slots(s));
    MN_TRY(list_by_nodes(s));
    MN_TRY(mn_array_resize(s->ctx, &phases->b, phases->column.count));
    MN_TRY(mn_array_resize(s->ctx, &phases->place, phases->count));
    phases->split = true;
    return MN_OK;
}
