// SPDX-License-Identifier: Apache-2.0
//
// For fuzzers: a property that must hold, or the program ends with its line.
#ifndef MENISCUS_TESTS_MUST_H
#define MENISCUS_TESTS_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
