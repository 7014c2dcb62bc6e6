// SPDX-License-Identifier: Apache-2.0
//
// What a call that can fail returns. One list gives code, name and message; the context keeps the sentence
// that says what went wrong this time (see context.h).
#ifndef MENISCUS_STATUS_H
#define MENISCUS_STATUS_H

#include "meniscus/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// X(code, what it means in general)
#define MN_STATUS_LIST(X)                                                                                    \
    X(MN_OK, "done")                                                                                         \
    X(MN_ERROR_MEMORY, "out of memory")                                                                      \
    X(MN_ERROR_CANCELLED, "cancelled")                                                                       \
    X(MN_ERROR_ARGUMENT, "a parameter is outside what it may be")                                            \
    X(MN_ERROR_INPUT, "the input geometry cannot be used as it is")                                          \
    X(MN_ERROR_FORMAT, "the file is damaged or not of the format it claims")                                 \
    X(MN_ERROR_UNSUPPORTED, "this cannot be represented here")                                               \
    X(MN_ERROR_IO, "reading or writing failed")                                                              \
    X(MN_ERROR_NOT_FOUND, "no such thing")                                                                   \
    X(MN_ERROR_SCENE, "the scene is not valid")                                                              \
    X(MN_ERROR_DIVERGED, "the solver could not take the step even at its smallest time step")

typedef enum mn_status {
#define X(code, message) code,
    MN_STATUS_LIST(X)
#undef X
        MN_STATUS_COUNT
} mn_status;

/// The code's own name, "MN_ERROR_IO"; never NULL.
MN_API const char *mn_status_name(mn_status status);

/// What the code means in general, "reading or writing failed"; never NULL.
MN_API const char *mn_status_message(mn_status status);

/// Hand a failure up the stack from a function that has nothing to clean up.
#define MN_TRY(call)                                                                                         \
    do {                                                                                                     \
        const mn_status mn_try_status_ = (call);                                                             \
        if (mn_try_status_ != MN_OK) return mn_try_status_;                                                  \
    } while (0)

/// Hand a failure to the one clean-up exit of a function: sets `status` and goes to `label`.
#define MN_TRY_TO(label, status, call)                                                                       \
    do {                                                                                                     \
        (status) = (call);                                                                                   \
        if ((status) != MN_OK) goto label;                                                                   \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
