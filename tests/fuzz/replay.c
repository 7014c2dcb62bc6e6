// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target without libFuzzer: every seed file of the folder, then a fixed number of deterministic
// mutations of each. The same inputs every time, so it is a test. What fuzzing once found, found_*, is run as
// it is.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MUTATIONS = 400 };

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static size_t mutate(uint8_t *data, size_t size, size_t capacity)
{
    for (uint64_t edits = 1 + next_random() % 4; edits-- > 0 && size > 0;) {
        const size_t at = next_random() % size;
        switch (next_random() % 4) {
        case 0:
            data[at] ^= (uint8_t)(1u << next_random() % 8);
            break;
        case 1:
            data[at] = (uint8_t)next_random();
            break;
        case 2:
            size = at;
            break;
        default:
            if (size < capacity) {
                memmove(data + at + 1, data + at, size - at);
                data[at] = (uint8_t)next_random();
                size++;
            }
        }
    }
    return size;
}

static void replay_file(const char *path, int mutations)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be opened\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file), capacity = size + 16;
    rewind(file);
    uint8_t *seed = malloc(capacity);
    if (!seed || fread(seed, 1, size, file) != size) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(seed, size);
    for (int i = 0; i < mutations; i++) {
        // A copy of exact size, so that the address sanitizer sees a read past its end.
        uint8_t *mutant = malloc(capacity);
        memcpy(mutant, seed, size);
        const size_t length = mutate(mutant, size, capacity);
        uint8_t *exact = malloc(length ? length : 1);
        memcpy(exact, mutant, length);
        LLVMFuzzerTestOneInput(exact, length);
        free(exact);
        free(mutant);
    }
    free(seed);
}

int main(int argc, char **argv)
{
    int files = 0;
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    if (folder) {
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (entry->d_name[0] == '.') continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
            replay_file(path, strncmp(entry->d_name, "found_", 6) == 0 ? 0 : MUTATIONS);
            files++;
        }
        closedir(folder);
    }
    printf("%d seeds replayed\n", files);
    return files > 0 ? 0 : 1;
}
