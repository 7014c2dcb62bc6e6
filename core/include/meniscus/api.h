// SPDX-License-Identifier: Apache-2.0
//
// The version of these headers and of the library, and what the library exports.
#ifndef MENISCUS_API_H
#define MENISCUS_API_H

/// Before 1.0 a new minor version may change the interface; a patch never does. See docs/c.md.
#define MN_VERSION_MAJOR 0
#define MN_VERSION_MINOR 1
#define MN_VERSION_PATCH 0

/// Stands before every function of the public headers; everything else stays inside the library.
#if defined(_WIN32) && defined(MN_SHARED)
#if defined(MN_BUILDING)
#define MN_API __declspec(dllexport)
#else
#define MN_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define MN_API __attribute__((visibility("default")))
#else
#define MN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// "0.1.0": of the library that is linked, which a program may compare with the macros it was compiled with.
MN_API const char *mn_version(void);

#ifdef __cplusplus
}
#endif
#endif
