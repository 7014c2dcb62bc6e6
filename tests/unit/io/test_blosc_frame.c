// SPDX-License-Identifier: Apache-2.0
//
// Frames are Blosc's own, byte for byte, and Blosc's are read: by ourselves where LZ4 made them.
#include "support/check.h"

#include "meniscus/random.h"
#include "plugin/io/blosc_frame.h"

#include <blosc.h>
#include <stdlib.h>
#include <string.h>

typedef struct room {
    uint8_t *plain, *frame, *other, *scratch;
} room;

static room make_room(void)
{
    const room r = {malloc(MN_BLOSC_BLOCK), malloc(MN_BLOSC_FRAME_MAX), malloc(MN_BLOSC_FRAME_MAX),
                    aligned_alloc(64, MN_BLOSC_SCRATCH)};
    assert_true(r.plain && r.frame && r.other && r.scratch);
    return r;
}

static void free_room(room *r)
{
    free(r->plain), free(r->frame), free(r->other), free(r->scratch);
}

/// Noise, numbers that vary slowly, or one value; sometimes one after the other.
static void fill(uint8_t *bytes, int32_t size, uint64_t seed)
{
    const double share = mn_random_unit(seed, 0, 1);
    for (int32_t i = 0; i < size; i++) {
        const int kind = (int)(seed % 4);
        const uint8_t noise = (uint8_t)(mn_random_unit(seed, (uint64_t)i, 0) * 256);
        const uint8_t slow = (uint8_t)(i / 4 * 3 >> (8 * (i % 4)));
        bytes[i] = kind == 0 ? noise : kind == 1 ? slow : kind == 2 ? 7 : i < share * size ? noise : slow;
    }
}

static const int32_t sizes[] = {1,
                                3,
                                4,
                                5,
                                127,
                                128,
                                129,
                                511,
                                512,
                                513,
                                1000,
                                65535,
                                65536,
                                65541,
                                99999,
                                262143,
                                MN_BLOSC_BLOCK,
                                MN_BLOSC_BLOCK - 1,
                                2051,
                                516,
                                515,
                                2047,
                                2048,
                                2049};

static void bytes_are_those_of_blosc(void **state)
{
    (void)state;
    room r = make_room();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            fill(r.plain, sizes[i], seed);
            const int32_t size = mn_blosc_pack(r.plain, sizes[i], r.frame, r.scratch);
            const int wanted = blosc_compress_ctx(9, BLOSC_SHUFFLE, 4, (size_t)sizes[i], r.plain, r.other,
                                                  MN_BLOSC_FRAME_MAX, BLOSC_LZ4_COMPNAME, MN_BLOSC_BLOCK, 1);
            assert_int_equal(size, wanted);
            assert_memory_equal(r.frame, r.other, (size_t)size);
            assert_int_equal(mn_blosc_frame_size(r.frame), size);
            assert_int_equal(mn_blosc_contents_size(r.frame), sizes[i]);
        }
    free_room(&r);
}

static void check_unpacks(room *r, int32_t size, int packed, const uint8_t *plain)
{
    uint8_t *back = malloc((size_t)size), *scratch = malloc((size_t)size);
    assert_true(mn_blosc_unpack(r->frame, (size_t)packed, back, (size_t)size, scratch));
    assert_memory_equal(back, plain, (size_t)size);
    free(back), free(scratch);
}

static void frames_of_all_kinds_are_read(void **state)
{
    (void)state;
    room r = make_room();
    const char *const names[] = {BLOSC_LZ4_COMPNAME, BLOSC_LZ4HC_COMPNAME, BLOSC_BLOSCLZ_COMPNAME,
                                 BLOSC_ZLIB_COMPNAME, BLOSC_ZSTD_COMPNAME};
    const size_t numbers[] = {1, 2, 3, 4, 8, 16, 17, 255};
    const int shuffles[] = {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};
    const size_t blocks[] = {0, 1000, 4096};
    int tried = 0;
    for (uint64_t k = 0; k < 5 * 8 * 3 * 3; k++) {
        const int32_t size = sizes[k % (sizeof sizes / sizeof *sizes)];
        fill(r.plain, size, k);
        const int packed =
            blosc_compress_ctx(5, shuffles[k / 40 % 3], numbers[k / 5 % 8], (size_t)size, r.plain, r.frame,
                               MN_BLOSC_FRAME_MAX, names[k % 5], blocks[k / 120 % 3], 1);
        if (packed <= 0) continue;
        check_unpacks(&r, size, packed, r.plain);
        tried++;
    }
    assert_true(tried > 300);
    free_room(&r);
}

/// What is damaged is refused, or gives other bytes; it never reads or writes outside (the sanitizers watch).
static void damaged_frames_do_no_harm(void **state)
{
    (void)state;
    room r = make_room();
    for (int round = 0; round < 4000; round++) {
        const int32_t size = sizes[round % 11];
        fill(r.plain, size, (uint64_t)round);
        const int32_t packed = mn_blosc_pack(r.plain, size, r.frame, r.scratch);
        for (int flips = 1 + round % 3; flips > 0; flips--) {
            const int32_t reach = round % 2 == 0 && packed > 40 ? 40 : packed;
            const mn_vec3 dice = mn_random_unit3(3, (uint64_t)round, (uint32_t)flips);
            r.frame[(int32_t)(dice.x * reach)] = (uint8_t)(dice.y * 256);
        }
        uint8_t *copy = malloc((size_t)packed), *back = malloc((size_t)size), *scratch = malloc((size_t)size);
        memcpy(copy, r.frame, (size_t)packed);
        // Other compressors are Blosc's business.
        if (copy[2] >> 5 == 1 && !(copy[2] & 4))
            (void)mn_blosc_unpack(copy, (size_t)packed, back, (size_t)size, scratch);
        free(copy), free(back), free(scratch);
    }
    free_room(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_blosc),
        cmocka_unit_test(frames_of_all_kinds_are_read),
        cmocka_unit_test(damaged_frames_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
