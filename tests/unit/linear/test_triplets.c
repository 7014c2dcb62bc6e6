// SPDX-License-Identifier: Apache-2.0
//
// A matrix of listed entries is the one that the sorts of linear/sparse.c make of them, bit for bit, in the
// same memory each time and on any number of workers.
#include "base/random.h"
#include "codim/volume/state.h"
#include "support/check.h"

#include <string.h>

enum { SIZE = 3000, COUNT = 40000 };

static void list_entries(mn_context *ctx, uint64_t seed, mn_triplets *list)
{
    list->rows.count = list->columns.count = list->values.count = 0;
    for (uint64_t k = 0; k < COUNT; k++) {
        const int32_t row = (int32_t)(SIZE * mn_random_unit(seed, k, 0));
        const int32_t column = row / 2 + (int32_t)(20 * mn_random_unit(seed, k, 1)); // many come twice
        const double value = mn_random_unit(seed, k, 2);
        check_ok(ctx, mn_array_push(ctx, &list->rows, &row));
        check_ok(ctx, mn_array_push(ctx, &list->columns, &column));
        check_ok(ctx, mn_array_push(ctx, &list->values, &value));
    }
}

static void entries_are_added_as_triplets_are(void **state)
{
    (void)state;
    for (int32_t workers = 1; workers <= 8; workers *= 2) {
        mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
        mn_triplets list = {0};
        mn_triplets_matrix memory = {0};
        for (uint64_t seed = 1; seed <= 3; seed++) {
            mn_sparse ours, theirs = {0};
            list_entries(ctx, seed, &list);
            check_ok(ctx, mn_triplets_build(ctx, SIZE, &list, &memory, &ours));
            check_ok(ctx, mn_sparse_from_triplets(ctx, SIZE, SIZE, COUNT, list.rows.data, list.columns.data,
                                                  list.values.data, NULL, &theirs));
            const size_t entries = (size_t)mn_sparse_entries(&theirs);
            assert_int_equal(ours.rows, SIZE);
            assert_memory_equal(ours.start, theirs.start, (SIZE + 1) * sizeof *ours.start);
            assert_memory_equal(ours.column, theirs.column, entries * sizeof *ours.column);
            assert_memory_equal(ours.value, theirs.value, entries * sizeof *ours.value);
            mn_sparse_free(ctx, &theirs);
        }
        mn_array_free(ctx, &list.rows);
        mn_array_free(ctx, &list.columns);
        mn_array_free(ctx, &list.values);
        mn_triplets_free(ctx, &memory);
        assert_int_equal(mn_context_bytes(ctx), 0);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_added_as_triplets_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
