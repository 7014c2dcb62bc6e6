// SPDX-License-Identifier: Apache-2.0
//
// Memory that is not there, from our allocator and from C++'s: a status, a sentence, nothing held and nothing
// half made. OpenVDB's memory comes from operator new, which this program replaces by one that fails on
// demand; that must throw, and what throws for it is in the C++ library under the name below. Only blocks of
// a leaf's size or more are refused: OpenVDB 10 makes a short list when it destroys a tree, and a destructor
// that throws ends the program, whoever calls it.
#include "plugin/vdb/vdb.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/shapes.h"

#include <stdatomic.h>

#if !defined(MN_SANITIZED)

enum { LARGE = 2048 };                ///< bytes, of the values of a leaf
static _Atomic int64_t news;          ///< calls of operator new for large blocks
static _Atomic int64_t fail_new = -1; ///< the call that fails; -1: none
static atomic_bool new_failed;

extern void _ZSt17__throw_bad_allocv(void); // std::__throw_bad_alloc()

static void *new_bytes(size_t size, size_t alignment)
{
    void *bytes = NULL;
    if (size >= LARGE && atomic_fetch_add(&news, 1) == atomic_load(&fail_new))
        atomic_store(&new_failed, true);
    else
        bytes = aligned_alloc(alignment,
                              (size + alignment - 1) / alignment * alignment + (size == 0) * alignment);
    if (!bytes) _ZSt17__throw_bad_allocv();
    return bytes;
}

// operator new and new[], plain, aligned and without exceptions (those never fail here), and all that may be
// called to delete what they gave.
#define NEW(name, ...)                                                                                       \
    void *name(__VA_ARGS__);                                                                                 \
    void *name(__VA_ARGS__)
NEW(_Znwm, size_t size)
{
    return new_bytes(size, 16);
}
NEW(_Znam, size_t size)
{
    return new_bytes(size, 16);
}
NEW(_ZnwmSt11align_val_t, size_t size, size_t alignment)
{
    return new_bytes(size, alignment);
}
NEW(_ZnamSt11align_val_t, size_t size, size_t alignment)
{
    return new_bytes(size, alignment);
}
NEW(_ZnwmRKSt9nothrow_t, size_t size, const void *tag)
{
    (void)tag;
    return malloc(size);
}
NEW(_ZnamRKSt9nothrow_t, size_t size, const void *tag)
{
    (void)tag;
    return malloc(size);
}
#define DELETE(name, ...)                                                                                    \
    void name(void *bytes, ##__VA_ARGS__);                                                                   \
    void name(void *bytes, ##__VA_ARGS__)                                                                    \
    {                                                                                                        \
        free(bytes);                                                                                         \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, size_t size)
DELETE(_ZdaPvm, size_t size)
DELETE(_ZdlPvRKSt9nothrow_t, const void *tag)
DELETE(_ZdaPvRKSt9nothrow_t, const void *tag)
DELETE(_ZdlPvSt11align_val_t, size_t alignment)
DELETE(_ZdaPvSt11align_val_t, size_t alignment)
DELETE(_ZdlPvmSt11align_val_t, size_t size, size_t alignment)
DELETE(_ZdaPvmSt11align_val_t, size_t size, size_t alignment)

#endif

// ---- what is tried ----

static mn_status count_bytes(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return MN_OK;
}

static mn_status make_and_unmake(mn_context *ctx, const mn_geo *mesh, mn_geo *grids, mn_geo **skin)
{
    mn_volume volume = {0};
    size_t written = 0;
    mn_status status;
    MN_TRY_TO(out, status, mn_vdb_from_mesh(ctx, mesh, 0.3, 3, "surface", &volume));
    MN_TRY_TO(out, status, mn_vdb_to_mesh(ctx, volume, 0, 0.5, skin));
    MN_TRY_TO(out, status, mn_geo_add_volume(grids, volume, -1, NULL));
    MN_TRY_TO(out, status, mn_vdb_write(ctx, grids, count_bytes, &written));
out:
    mn_volume_release(&volume);
    return status;
}

static mn_status try_all(mn_context *ctx, const mn_geo *mesh)
{
    mn_geo *grids = NULL, *skin = NULL, *read = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_geo_create(ctx, &grids));
    MN_TRY_TO(out, status, make_and_unmake(ctx, mesh, grids, &skin));
    MN_TRY_TO(out, status,
              mn_vdb_read(ctx, MN_SOURCE_DIR "/tests/fuzz/seeds/fuzz_vdb/level_set_blosc.vdb", &read));
out:
    mn_geo_free(grids);
    mn_geo_free(skin);
    mn_geo_free(read);
    return status;
}

static mn_geo *small_mesh(mn_context *ctx)
{
    return sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 8);
}

static void our_memory_may_be_out(void **state)
{
    (void)state;
    mn_context *plain = mn_context_create(NULL);
    mn_geo *mesh = small_mesh(plain);
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        if (!ctx) continue;
        const mn_status status = try_all(ctx, mesh);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        assert_true(status == MN_OK || mn_context_message(ctx)[0]);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
    mn_geo_free(mesh);
    mn_context_free(plain);
}

#if !defined(MN_SANITIZED)
static void memory_of_openvdb_may_be_out(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_geo *mesh = small_mesh(ctx);
    const int64_t held = (int64_t)mn_context_bytes(ctx);
    check_ok(ctx, try_all(ctx, mesh)); // registers types, and starts what starts once
    // Every one of the first, then ever fewer of the many that leaves and tasks need.
    for (int64_t n = 0;; n += 1 + n / 64) {
        atomic_store(&news, 0);
        atomic_store(&new_failed, false);
        atomic_store(&fail_new, n);
        const mn_status status = try_all(ctx, mesh);
        atomic_store(&fail_new, -1);
        assert_int_equal(status, atomic_load(&new_failed) ? MN_ERROR_MEMORY : MN_OK);
        assert_true(status == MN_OK || mn_context_message(ctx)[0]);
        assert_int_equal(mn_context_bytes(ctx), held);
        mn_context_clear_message(ctx);
        if (!atomic_load(&new_failed)) break;
    }
    mn_geo_free(mesh);
    mn_context_free(ctx);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_memory_may_be_out),
#if !defined(MN_SANITIZED)
        cmocka_unit_test(memory_of_openvdb_may_be_out),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
