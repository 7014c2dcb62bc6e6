// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 [salmon2011]: ten rounds of two 32 x 32 -> 64 multiplications; the key is stepped by Weyl
// constants. Checked against the authors' known answers (tests/unit/base/test_random.c).
#include "base/random.h"
#include "base/elementary.h"

static void round_once(uint32_t c[4], const uint32_t k[2])
{
    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k[0];
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k[1];
    c[3] = (uint32_t)p0;
}

mn_random4 mn_philox(const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k[2] = {key[0], key[1]};
    for (int i = 0; i < 10; i++) {
        round_once(c, k);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    return (mn_random4){{c[0], c[1], c[2], c[3]}};
}

static mn_random4 draw_words(uint64_t seed, uint64_t id, uint32_t draw, uint32_t lane)
{
    const uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), draw, lane};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    return mn_philox(counter, key);
}

static double unit_of(uint32_t high, uint32_t low)
{
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return (double)bits * 0x1p-53;
}

double mn_random_unit(uint64_t seed, uint64_t id, uint32_t draw)
{
    const mn_random4 r = draw_words(seed, id, draw, 0);
    return unit_of(r.word[0], r.word[1]);
}

mn_vec3 mn_random_unit3(uint64_t seed, uint64_t id, uint32_t draw)
{
    const mn_random4 a = draw_words(seed, id, draw, 0), b = draw_words(seed, id, draw, 1);
    return mn_v3(unit_of(a.word[0], a.word[1]), unit_of(a.word[2], a.word[3]), unit_of(b.word[0], b.word[1]));
}

double mn_random_normal(uint64_t seed, uint64_t id, uint32_t draw)
{
    // Box and Muller; 1 - u lies in (0, 1], so the logarithm is finite.
    const mn_random4 r = draw_words(seed, id, draw, 2);
    const double u = unit_of(r.word[0], r.word[1]), angle = 2.0 * MN_PI * unit_of(r.word[2], r.word[3]);
    return sqrt(-2.0 * mn_ln(1.0 - u)) * mn_cos(angle);
}

mn_vec3 mn_random_direction(uint64_t seed, uint64_t id, uint32_t draw)
{
    const mn_random4 r = draw_words(seed, id, draw, 3);
    const double z = 2.0 * unit_of(r.word[0], r.word[1]) - 1.0;
    const double angle = 2.0 * MN_PI * unit_of(r.word[2], r.word[3]);
    const double s = sqrt(fmax(0.0, 1.0 - z * z));
    return mn_v3(s * mn_cos(angle), s * mn_sin(angle), z);
}
