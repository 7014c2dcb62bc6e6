// SPDX-License-Identifier: Apache-2.0
//
// The version of the library.
#include "meniscus/context.h"

#define TEXT(x) #x
#define JOINED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *mn_version(void)
{
    return JOINED(MN_VERSION_MAJOR, MN_VERSION_MINOR, MN_VERSION_PATCH);
}
