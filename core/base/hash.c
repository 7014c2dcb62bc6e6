// SPDX-License-Identifier: Apache-2.0
//
// Four independent lanes of multiply-and-rotate over 32 bytes at a time, then a finaliser with full avalanche
// (the 64-bit mixer of [steele2014]).
#include "meniscus/stream.h"

#include <string.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30, x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27, x *= 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t lane(uint64_t state, uint64_t word)
{
    state += word * 0xC2B2AE3D27D4EB4Fu;
    state = state << 31 | state >> 33;
    return state * 0x9E3779B185EBCA87u;
}

uint64_t mn_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t state[4] = {seed ^ 0x243F6A8885A308D3u, seed ^ 0x13198A2E03707344u, seed ^ 0xA4093822299F31D0u,
                         seed ^ 0x082EFA98EC4E6C89u};
    size_t left = size;
    for (; left >= 32; left -= 32, at += 32) {
        uint64_t words[4];
        memcpy(words, at, sizeof words);
        for (int i = 0; i < 4; i++) state[i] = lane(state[i], words[i]);
    }
    if (left > 0) {
        uint64_t words[4] = {0};
        memcpy(words, at, left);
        for (int i = 0; i < 4; i++) state[i] = lane(state[i], words[i]);
    }
    uint64_t hash = mix(size ^ seed);
    for (int i = 0; i < 4; i++) hash = mix(hash ^ state[i]);
    return hash;
}

uint64_t mn_hash_string(uint64_t seed, const char *string)
{
    return mn_hash_bytes(seed, string, strlen(string));
}

uint64_t mn_hash_u64(uint64_t seed, uint64_t value)
{
    return mix(seed ^ mix(value + 0x9E3779B97F4A7C15u));
}

uint64_t mn_hash_f64(uint64_t seed, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mn_hash_u64(seed, bits);
}
