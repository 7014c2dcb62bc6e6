// SPDX-License-Identifier: Apache-2.0
//
// A cancel, whenever it comes, loses nothing: each scene of tests/golden, one for every kind of simulation,
// is cooked and cancelled at the n-th question "cancelled?", for n spread over all questions of an
// undisturbed cook. The cook answers MN_ERROR_CANCELLED; asked again, it gives the bits of the cook that
// nobody disturbed.
#include "plugin/host/network/network.h"
#include "support/check.h"

#include <dirent.h>

enum { MAX_FRAMES = 8, CANCELS = 12 };

typedef struct questions {
    int64_t count, cancel_at; // the question that is answered with yes; -1: none
} questions;

static bool is_cancelled(void *user)
{
    questions *q = user;
    return q->count++ == q->cancel_at;
}

/// Hashes of the scene's frames; how often a cook was cancelled.
static int cook(const char *path, questions *q, uint64_t *hashes, int32_t *frames)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.user = q, .cancelled = is_cancelled, .max_workers = 1});
    mn_network *network = NULL;
    check_ok(ctx, mn_scene_read(ctx, NULL, path, &network));
    int32_t first, last;
    mn_network_range(network, &first, &last);
    *frames = last - first + 1;
    assert_in_range(*frames, 1, MAX_FRAMES);
    int cancelled = 0;
    for (int32_t i = 0; i < *frames; i++) {
        const mn_geo *geo = NULL;
        mn_status status = mn_network_cook(network, mn_network_output(network), 0, first + i, &geo);
        if (status == MN_ERROR_CANCELLED) {
            cancelled++;
            status = mn_network_cook(network, mn_network_output(network), 0, first + i, &geo);
        }
        check_ok(ctx, status);
        hashes[i] = mn_geo_hash(geo);
    }
    mn_network_free(network);
    mn_context_free(ctx);
    return cancelled;
}

/// How many of the cancels changed a frame.
static int check_scene(const char *path)
{
    uint64_t wanted[MAX_FRAMES], hashes[MAX_FRAMES];
    int32_t frames;
    questions q = {.cancel_at = -1};
    assert_int_equal(cook(path, &q, wanted, &frames), 0);
    const int64_t asked = q.count;
    assert_true(asked >= frames);
    int changed = 0;
    for (int64_t k = 0; k < CANCELS; k++) {
        q = (questions){.cancel_at = asked * (2 * k + 1) / (2 * CANCELS)};
        assert_int_equal(cook(path, &q, hashes, &frames), 1);
        if (memcmp(hashes, wanted, sizeof *hashes * (size_t)frames) == 0) continue;
        changed++;
        print_error("%s: other bits after a cancel at question %lld of %lld\n", path,
                    (long long)(asked * (2 * k + 1) / (2 * CANCELS)), (long long)asked);
    }
    return changed;
}

static void a_cancel_at_any_moment_loses_nothing(void **state)
{
    (void)state;
    const char *const folder = MN_SOURCE_DIR "/tests/golden";
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    int count = 0, changed = 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".json") != 0 || strcmp(entry->d_name, "hashes.json") == 0) continue;
        char path[1400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        changed += check_scene(path);
        count++;
    }
    closedir(entries);
    assert_true(count >= 10);
    assert_int_equal(changed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cancel_at_any_moment_loses_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
