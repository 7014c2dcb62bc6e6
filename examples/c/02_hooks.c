// SPDX-License-Identifier: Apache-2.0
//
// What a host hands in: memory, log, progress, cancel and the number of threads. A burst of drops flies until
// the host cancels it; the state is then that of the last good step, and can be advanced again.
#include <meniscus/meniscus.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct host {
    int64_t bytes;  // held now
    double stop_at; // fraction of the job at which the artist loses patience
    double done;
} host;

static void *allocate(void *user, size_t size)
{
    ((host *)user)->bytes += (int64_t)size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *user, void *memory, size_t size)
{
    if (memory) ((host *)user)->bytes -= (int64_t)size;
    free(memory);
}

static void log_sentence(void *user, mn_log_level level, const char *sentence)
{
    (void)user;
    if (level == MN_LOG_WARNING) fprintf(stderr, "warning: %s\n", sentence);
}

static void progress(void *user, double fraction, const char *what)
{
    (void)what;
    ((host *)user)->done = fraction;
}

static bool cancelled(void *user)
{
    return ((host *)user)->done >= ((host *)user)->stop_at;
}

int main(void)
{
    host me = {.stop_at = 0.5};
    const mn_hooks hooks = {.user = &me,
                            .allocate = allocate,
                            .release = release,
                            .log = log_sentence,
                            .progress = progress,
                            .cancelled = cancelled,
                            .max_workers = 2};
    mn_context *ctx = mn_context_create(&hooks);
    mn_spray_def def = mn_spray_default_def();
    def.min_substeps = 100;
    mn_spray *spray;
    if (mn_spray_create(ctx, &def, &spray) != MN_OK) return 1;

    mn_drop drops[1000];
    for (int i = 0; i < 1000; i++)
        drops[i] = (mn_drop){.velocity = {0.01 * (i % 40), 3, 0.01 * (i / 40)},
                             .radius = 0.001,
                             .mass = mn_drop_mass(0.001, 1000),
                             .life = -1};
    if (mn_spray_add(spray, 1000, drops) != MN_OK) return 1;

    mn_status status = mn_spray_advance(spray, NULL, 0.2);
    printf("%s after %.0f %%\n", mn_status_name(status), 100 * me.done);
    if (status != MN_ERROR_CANCELLED) return 1;

    me.stop_at = 2, me.done = 0; // the artist has thought better of it
    status = mn_spray_advance(spray, NULL, 0.2);
    int64_t count;
    const mn_drop *now = mn_spray_drops(spray, &count); // borrowed until the next advance
    printf("%s: %lld drops, the first at y = %.3f m\n", mn_status_name(status), (long long)count,
           now[0].position.y);
    mn_spray_free(spray);
    mn_context_free(ctx);
    printf("%lld bytes not given back\n", (long long)me.bytes);
    return status == MN_OK && me.bytes == 0 ? 0 : 1;
}
