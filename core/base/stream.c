// SPDX-License-Identifier: Apache-2.0
//
// Tagged little-endian numbers and blocks through a host's callbacks. Only little-endian machines are
// supported, which is every machine our hosts run on; the assertion below keeps that honest.
#include "meniscus/stream.h"

#include "meniscus/array.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "checkpoints are written in the machine's byte order, which must be little-endian"
#endif

enum { TAG_SIZE = 32, PIECE = 1 << 16 };

static mn_status put(mn_writer *out, const void *bytes, size_t size)
{
    return size == 0 ? MN_OK : out->write(out->user, bytes, size);
}

static mn_status get(mn_reader *in, void *bytes, size_t size)
{
    return size == 0 ? MN_OK : in->read(in->user, bytes, size);
}

mn_status mn_write_tag(mn_writer *out, const char *tag, int32_t version)
{
    char bytes[TAG_SIZE] = {0};
    const size_t length = strlen(tag);
    if (length >= TAG_SIZE)
        return mn_fail(out->ctx, MN_ERROR_ARGUMENT, "The tag '%s' is longer than %d characters.", tag,
                       TAG_SIZE - 1);
    memcpy(bytes, tag, length);
    MN_TRY(put(out, bytes, sizeof bytes));
    return put(out, &version, sizeof version);
}

mn_status mn_read_tag(mn_reader *in, const char *tag, int32_t newest, int32_t *version)
{
    char bytes[TAG_SIZE] = {0};
    MN_TRY(get(in, bytes, sizeof bytes));
    bytes[TAG_SIZE - 1] = '\0';
    if (strcmp(bytes, tag) != 0)
        return mn_fail(in->ctx, MN_ERROR_FORMAT, "The saved state holds something else where '%s' should be.",
                       tag);
    MN_TRY(get(in, version, sizeof *version));
    if (*version < 1 || *version > newest)
        return mn_fail(in->ctx, MN_ERROR_FORMAT,
                       "The saved '%s' is of version %d; this build reads up to %d.", tag, (int)*version,
                       (int)newest);
    return MN_OK;
}

mn_status mn_write_i64(mn_writer *out, int64_t value)
{
    return put(out, &value, sizeof value);
}

mn_status mn_read_i64(mn_reader *in, int64_t *value)
{
    return get(in, value, sizeof *value);
}

mn_status mn_write_f64(mn_writer *out, double value)
{
    return put(out, &value, sizeof value);
}

mn_status mn_read_f64(mn_reader *in, double *value)
{
    return get(in, value, sizeof *value);
}

mn_status mn_write_block(mn_writer *out, const void *data, int64_t count, size_t element_size)
{
    MN_TRY(mn_write_i64(out, count));
    MN_TRY(mn_write_i64(out, (int64_t)element_size));
    return put(out, data, mn_bytes(count, element_size));
}

mn_status mn_read_block(mn_reader *in, void *data, int64_t count, size_t element_size)
{
    int64_t saved_count, saved_size;
    MN_TRY(mn_read_i64(in, &saved_count));
    MN_TRY(mn_read_i64(in, &saved_size));
    if (saved_count != count || saved_size != (int64_t)element_size)
        return mn_fail(in->ctx, MN_ERROR_FORMAT,
                       "The saved state has %lld elements of %lld bytes where %lld of %zu belong.",
                       (long long)saved_count, (long long)saved_size, (long long)count, element_size);
    return get(in, data, mn_bytes(count, element_size));
}

mn_status mn_write_array_bytes(mn_writer *out, const void *data, int64_t count, size_t element_size)
{
    MN_TRY(mn_write_i64(out, count));
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t piece = count - first < PIECE ? count - first : PIECE;
        MN_TRY(mn_write_block(out, (const char *)data + mn_bytes(first, element_size), piece, element_size));
    }
    return MN_OK;
}

mn_status mn_read_array_bytes(mn_reader *in, void *data, int64_t *count, int64_t *capacity,
                              size_t element_size)
{
    int64_t total;
    MN_TRY(mn_read_i64(in, &total));
    if (total < 0)
        return mn_fail(in->ctx, MN_ERROR_FORMAT, "The saved state holds an array of %lld elements.",
                       (long long)total);
    *count = 0;
    for (int64_t first = 0; first < total; first += PIECE) {
        const int64_t piece = total - first < PIECE ? total - first : PIECE;
        MN_TRY(mn_array_reserve_bytes(in->ctx, data, capacity, element_size, first + piece));
        char *elements;
        memcpy(&elements, data, sizeof elements);
        MN_TRY(mn_read_block(in, elements + mn_bytes(first, element_size), piece, element_size));
        *count = first + piece;
    }
    return MN_OK;
}
