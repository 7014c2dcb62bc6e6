// SPDX-License-Identifier: Apache-2.0
//
// Philox against the known answers published with it [salmon2011]; uniform, normal and direction draws
// against their moments; hashes against collisions.
#include "base/random.h"
#include "meniscus/stream.h"
#include "support/check.h"

static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const mn_random4 r = mn_philox(known[i].counter, known[i].key);
        assert_memory_equal(r.word, known[i].answer, sizeof r.word);
    }
}

static void draws_have_the_moments_of_their_distribution(void **state)
{
    (void)state;
    enum { N = 200000 };
    double sum = 0, squares = 0, normal = 0, normal_squares = 0;
    mn_vec3 direction = {0};
    for (uint64_t i = 0; i < N; i++) {
        const double u = mn_random_unit(1, i, 0), g = mn_random_normal(1, i, 0);
        assert_true(u >= 0 && u < 1);
        sum += u, squares += u * u, normal += g, normal_squares += g * g;
        const mn_vec3 d = mn_random_direction(1, i, 0);
        check_close(mn_norm(d), 1, 1e-14);
        direction = mn_add(direction, d);
    }
    // Four standard deviations of each mean.
    check_close(sum / N, 0.5, 4 * sqrt(1.0 / 12 / N));
    check_close(squares / N, 1.0 / 3, 4 * sqrt(4.0 / 45 / N));
    check_close(normal / N, 0, 4 / sqrt(N));
    check_close(normal_squares / N, 1, 4 * sqrt(2.0 / N));
    check_close(mn_norm(direction) / N, 0, 4 / sqrt(N));
}

static void seeds_ids_and_draws_are_independent_streams(void **state)
{
    (void)state;
    assert_true(mn_random_unit(1, 2, 3) == mn_random_unit(1, 2, 3));
    assert_true(mn_random_unit(1, 2, 3) != mn_random_unit(2, 2, 3));
    assert_true(mn_random_unit(1, 2, 3) != mn_random_unit(1, 3, 3));
    assert_true(mn_random_unit(1, 2, 3) != mn_random_unit(1, 2, 4));
    const mn_vec3 r = mn_random_unit3(1, 2, 3);
    assert_true(r.x != r.y && r.y != r.z);
}

static void hashes_see_every_bit_and_every_length(void **state)
{
    (void)state;
    unsigned char bytes[67] = {0};
    const uint64_t zero = mn_hash_bytes(5, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes * 8; i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        assert_true(mn_hash_bytes(5, bytes, sizeof bytes) != zero);
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    for (size_t a = 0; a < sizeof bytes; a++)
        for (size_t b = a + 1; b < sizeof bytes; b++)
            assert_true(mn_hash_bytes(5, bytes, a) != mn_hash_bytes(5, bytes, b));
    assert_true(mn_hash_string(mn_hash_string(0, "ab"), "c") != mn_hash_string(mn_hash_string(0, "a"), "bc"));
    assert_true(mn_hash_u64(0, 1) != mn_hash_u64(1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(draws_have_the_moments_of_their_distribution),
        cmocka_unit_test(seeds_ids_and_draws_are_independent_streams),
        cmocka_unit_test(hashes_see_every_bit_and_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
