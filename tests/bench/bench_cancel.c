// SPDX-License-Identifier: Apache-2.0
//
// How long an artist who presses Esc waits: the longest time between two questions "cancelled?" while the
// first frames of each scene of examples/ cook on one thread. Processor time, so that other work on the
// machine does not count. A scene is left when it has taken its budget, so that the whole takes minutes.
//   bench_cancel [SCENE...]     from the root of the project; only scenes whose name holds one of these
#include "meniscus/meniscus.h"
#include "plugin/host/network/network.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 3 };
static const double budget = 10; // s of processor time a scene

typedef struct watch {
    double began, last, longest;
    char doing[64];         // what the progress said last
    char doing_longest[64]; // and when the longest wait ended
} watch;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_cancelled(void *user)
{
    watch *w = user;
    const double now = processor_seconds();
    if (now - w->last > w->longest) {
        w->longest = now - w->last;
        memcpy(w->doing_longest, w->doing, sizeof w->doing);
    }
    w->last = now;
    return now - w->began > budget;
}

static void note_progress(void *user, double fraction, const char *what)
{
    (void)fraction;
    watch *w = user;
    snprintf(w->doing, sizeof w->doing, "%s", what ? what : "");
}

static void cook(const char *name)
{
    char path[1400];
    snprintf(path, sizeof path, "examples/%s/scene.json", name);
    FILE *file = fopen(path, "rb");
    if (!file) return;
    fclose(file);
    watch w = {.longest = 0};
    mn_context *ctx = mn_context_create(
        &(mn_hooks){.user = &w, .cancelled = is_cancelled, .progress = note_progress, .max_workers = 1});
    mn_network *network = NULL;
    mn_status status = mn_scene_read(ctx, NULL, path, &network);
    w.began = w.last = processor_seconds();
    int32_t first = 1, last = 1;
    if (status == MN_OK) mn_network_range(network, &first, &last);
    for (int32_t f = first; status == MN_OK && f <= last && f < first + FRAMES; f++) {
        const mn_geo *geo;
        status = mn_network_cook(network, mn_network_output(network), 0, f, &geo);
    }
    is_cancelled(&w);
    printf("%-32s %8.3f s at most without a question, of %6.2f s%s%s\n", name, w.longest, w.last - w.began,
           w.doing_longest[0] ? "; during: " : "", w.doing_longest);
    if (status != MN_OK && status != MN_ERROR_CANCELLED) printf("  %s\n", mn_context_message(ctx));
    fflush(stdout);
    mn_network_free(network);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    const int count = scandir("examples", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        bool wanted = argc == 1;
        for (int k = 1; k < argc; k++) wanted |= strstr(entries[i]->d_name, argv[k]) != NULL;
        if (wanted && entries[i]->d_name[0] != '.') cook(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return count > 0 ? 0 : 1;
}
