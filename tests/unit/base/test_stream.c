// SPDX-License-Identifier: Apache-2.0
//
// Streams: what was written comes back, and anything else is refused with a sentence.
#include "meniscus/context.h"
#include "meniscus/stream.h"
#include "support/check.h"

typedef struct tape {
    mn_context *ctx;
    unsigned char bytes[1 << 21];
    size_t size, at;
} tape;

static mn_status write_tape(void *user, const void *bytes, size_t size)
{
    tape *t = user;
    if (size > sizeof t->bytes - t->size) return mn_fail(t->ctx, MN_ERROR_IO, "The tape is full.");
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return MN_OK;
}

static mn_status read_tape(void *user, void *bytes, size_t size)
{
    tape *t = user;
    if (size > t->size - t->at) return mn_fail(t->ctx, MN_ERROR_FORMAT, "The tape ends too early.");
    memcpy(bytes, t->bytes + t->at, size);
    t->at += size;
    return MN_OK;
}

static const double values[3] = {1.5, -0.0, 1e300};

static mn_status write_state(mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "spray", 2));
    MN_TRY(mn_write_i64(out, -5));
    MN_TRY(mn_write_f64(out, 0.1));
    return mn_write_block(out, values, 3, sizeof *values);
}

static mn_status read_state(mn_reader *in, int64_t count)
{
    int32_t version;
    int64_t number;
    double fraction, back[3];
    MN_TRY(mn_read_tag(in, "spray", 3, &version));
    MN_TRY(mn_read_i64(in, &number));
    MN_TRY(mn_read_f64(in, &fraction));
    MN_TRY(mn_read_block(in, back, count, sizeof *back));
    assert_int_equal(version, 2);
    assert_int_equal(number, -5);
    assert_true(fraction == 0.1);
    assert_memory_equal(back, values, sizeof back);
    return MN_OK;
}

static void what_was_written_comes_back_and_nothing_else_does(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    static tape t;
    t.ctx = ctx;
    mn_writer out = {ctx, &t, write_tape};
    mn_reader in = {ctx, &t, read_tape};
    check_ok(ctx, write_state(&out));
    check_ok(ctx, read_state(&in, 3));
    assert_int_equal(t.at, t.size);

    t.at = 0;
    check_fails(ctx, read_state(&in, 2), MN_ERROR_FORMAT, "3 elements");
    int32_t version;
    t.at = 0;
    check_fails(ctx, mn_read_tag(&in, "mpm", 3, &version), MN_ERROR_FORMAT, "'mpm'");
    t.at = 0;
    check_fails(ctx, mn_read_tag(&in, "spray", 1, &version), MN_ERROR_FORMAT, "version 2");
    const size_t whole = t.size;
    for (t.size = 0; t.size < whole; t.size++) {
        t.at = 0;
        check_fails(ctx, read_state(&in, 3), MN_ERROR_FORMAT, "too early");
    }
    check_fails(ctx, mn_write_tag(&out, "a tag of far more than thirty-one characters", 1), MN_ERROR_ARGUMENT,
                "longer");
    mn_context_free(ctx);
}

static void arrays_of_any_length_come_back(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const int64_t counts[] = {0, 1, 65536, 200000};
    for (int k = 0; k < 4; k++) {
        MN_ARRAY(double) a = {0}, b = {0};
        check_ok(ctx, mn_array_resize(ctx, &a, counts[k]));
        for (int64_t i = 0; i < a.count; i++) a.data[i] = 0.5 * (double)i;
        static tape t;
        memset(&t, 0, sizeof t);
        t.ctx = ctx;
        mn_writer out = {ctx, &t, write_tape};
        mn_reader in = {ctx, &t, read_tape};
        check_ok(ctx, mn_write_array(&out, &a));
        check_ok(ctx, mn_read_array(&in, &b));
        assert_int_equal(t.at, t.size);
        assert_int_equal(b.count, a.count);
        for (int64_t i = 0; i < a.count; i++) assert_true(a.data[i] == b.data[i]);
        // A count that is far off takes no more memory than there are bytes.
        t.at = 0;
        t.bytes[6] = 0x7f;
        const int64_t held = mn_context_bytes(ctx);
        mn_status status = mn_read_array(&in, &b);
        assert_int_equal(status, MN_ERROR_FORMAT);
        assert_true(mn_context_bytes(ctx) <= held + (int64_t)sizeof(double) * 400000);
        mn_array_free(ctx, &a);
        mn_array_free(ctx, &b);
    }
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_comes_back_and_nothing_else_does),
        cmocka_unit_test(arrays_of_any_length_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
