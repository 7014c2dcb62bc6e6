// SPDX-License-Identifier: Apache-2.0
//
// States as streams of named members.
#include "meniscus/solver.h"

#include "meniscus/array.h"

#include <string.h>

typedef MN_ARRAY(uint8_t) byte_array; ///< how every MN_ARRAY lies in memory: pointer, count, capacity

mn_status mn_save_members(mn_writer *out, const char *tag, int32_t version, const mn_saved *members,
                          int32_t count, const void *state)
{
    MN_TRY(mn_write_tag(out, tag, version));
    for (int32_t i = 0; i < count; i++) {
        const mn_saved *m = &members[i];
        const void *at = (const char *)state + m->offset;
        MN_TRY(mn_write_tag(out, m->name, m->since));
        if (m->storage == MN_STORE_NONE) {
            const byte_array *array = at;
            MN_TRY(mn_write_array_bytes(out, array->data, array->count, m->element));
        } else {
            MN_TRY(mn_write_block(out, at, m->size, mn_storage_bytes(m->storage)));
        }
    }
    return MN_OK;
}

static mn_status load_member(mn_reader *in, const mn_saved *m, void *at)
{
    int32_t since;
    MN_TRY(mn_read_tag(in, m->name, m->since, &since));
    if (m->storage == MN_STORE_NONE) {
        byte_array *array = at;
        return mn_read_array_bytes(in, &array->data, &array->count, &array->capacity, m->element);
    }
    MN_TRY(mn_read_block(in, at, m->size, mn_storage_bytes(m->storage)));
    if (m->storage == MN_STORE_U8) *(uint8_t *)at = *(uint8_t *)at != 0;
    const double *numbers = at;
    for (int32_t k = 0; m->storage == MN_STORE_F64 && k < m->size; k++)
        if (!isfinite(numbers[k]))
            return mn_fail(in->ctx, MN_ERROR_FORMAT, "The saved state is damaged: %s is not a finite number.",
                           m->name);
    return MN_OK;
}

mn_status mn_load_members(mn_reader *in, const char *tag, int32_t oldest, int32_t newest,
                          const mn_saved *members, int32_t count, void *state, int32_t *version)
{
    MN_TRY(mn_read_tag(in, tag, newest, version));
    if (*version < oldest)
        return mn_fail(
            in->ctx, MN_ERROR_UNSUPPORTED,
            "The saved '%s' is of version %d; this build reads versions %d to %d. Simulate it again.", tag,
            (int)*version, (int)oldest, (int)newest);
    for (int32_t i = 0; i < count; i++)
        if (members[i].since <= *version)
            MN_TRY(load_member(in, &members[i], (char *)state + members[i].offset));
    return MN_OK;
}
