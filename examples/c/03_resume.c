// SPDX-License-Identifier: Apache-2.0
//
// A simulation saved half way and loaded again gives the same bits as one that was never stopped, with any
// number of threads. Saving goes through a callback, here into memory.
#include <meniscus/meniscus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    char *data;
    size_t size, read;
} bytes;

static mn_status append(void *user, const void *data, size_t size)
{
    bytes *b = user;
    b->data = realloc(b->data, b->size + size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return MN_OK;
}

static mn_status take(void *user, void *data, size_t size)
{
    bytes *b = user;
    if (size > b->size - b->read) return MN_ERROR_FORMAT;
    memcpy(data, b->data + b->read, size);
    b->read += size;
    return MN_OK;
}

static mn_spray *start(mn_context *ctx, const mn_spray_def *def)
{
    mn_spray *spray;
    mn_drop drops[500];
    for (int i = 0; i < 500; i++)
        drops[i] = (mn_drop){
            .velocity = {0.001 * i, 2, 0}, .radius = 5e-4, .mass = mn_drop_mass(5e-4, 1000), .life = -1};
    if (mn_spray_create(ctx, def, &spray) != MN_OK || mn_spray_add(spray, 500, drops) != MN_OK) exit(1);
    return spray;
}

int main(void)
{
    const mn_spray_def def = mn_spray_default_def();
    mn_context *one = mn_context_create(&(mn_hooks){.max_workers = 1});
    mn_context *four = mn_context_create(&(mn_hooks){.max_workers = 4});

    // Never stopped, on one thread.
    mn_spray *whole = start(one, &def);
    for (int frame = 0; frame < 10; frame++)
        if (mn_spray_advance(whole, NULL, 1.0 / 24) != MN_OK) return 1;

    // Stopped after five frames, gone on with by another context on four threads.
    mn_spray *first = start(one, &def);
    for (int frame = 0; frame < 5; frame++)
        if (mn_spray_advance(first, NULL, 1.0 / 24) != MN_OK) return 1;
    bytes state = {0};
    mn_spray *second = NULL;
    if (mn_spray_save(first, &(mn_writer){one, &state, append}) != MN_OK) return 1;
    if (mn_spray_load(four, &def, &(mn_reader){four, &state, take}, &second) != MN_OK) {
        fprintf(stderr, "%s\n", mn_context_message(four));
        return 1;
    }
    for (int frame = 0; frame < 5; frame++)
        if (mn_spray_advance(second, NULL, 1.0 / 24) != MN_OK) return 1;

    int64_t count, other;
    const mn_drop *a = mn_spray_drops(whole, &count), *b = mn_spray_drops(second, &other);
    const bool same = count == other && memcmp(a, b, sizeof *a * (size_t)count) == 0;
    printf("%lld drops, %s\n", (long long)count, same ? "the same bits" : "other bits");
    free(state.data);
    mn_spray_free(whole);
    mn_spray_free(first);
    mn_spray_free(second);
    mn_context_free(one);
    mn_context_free(four);
    return same ? 0 : 1;
}
