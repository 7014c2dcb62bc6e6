// SPDX-License-Identifier: Apache-2.0
//
// A state as a stream of named members: which member, of which kind, since which version. A member that an
// older stream does not have keeps what the caller put there; a stream that is too old or too new is refused
// by name.
//
//   static const mn_saved saved[] = {
//       MN_SAVED_I64(mn_spray, next_id, 1),
//       MN_SAVED_ARRAY(mn_spray, drops, 1),
//       MN_SAVED_F64(mn_spray, age, 2),       // new in version 2
//   };
//   mn_save_members(out, "spray", 2, saved, MN_COUNT_OF(saved), spray);
#ifndef MENISCUS_SAVED_H
#define MENISCUS_SAVED_H

#include "meniscus/api.h"

#include "meniscus/field.h"
#include "meniscus/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_saved {
    const char *name;   ///< at most 31 characters
    mn_storage storage; ///< of each number; MN_STORE_NONE for an MN_ARRAY
    int32_t size;       ///< numbers
    size_t element;     ///< bytes of an array's element, which has no padding
    size_t offset;      ///< in the struct
    int32_t since;      ///< the version that has it first
} mn_saved;

#define MN_SAVED_I64(type_, member_, since_)                                                                 \
    {                                                                                                        \
#member_, MN_STORE_I64, 1, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_F64(type_, member_, since_)                                                                 \
    {                                                                                                        \
#member_, MN_STORE_F64, 1, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_BOOL(type_, member_, since_)                                                                \
    {                                                                                                        \
#member_, MN_STORE_U8, 1, 0, offsetof(type_, member_), since_                                        \
    }
#define MN_SAVED_VEC3(type_, member_, since_)                                                                \
    {                                                                                                        \
#member_, MN_STORE_F64, 3, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_ARRAY(type_, member_, since_)                                                               \
    {                                                                                                        \
#member_, MN_STORE_NONE, 0, sizeof *((type_ *)0)->member_.data, offsetof(type_, member_), since_     \
    }

MN_API mn_status mn_save_members(mn_writer *out, const char *tag, int32_t version, const mn_saved *members,
                                 int32_t count, const void *state);
/// Versions from `oldest` to `newest` are read; *version is the one that was. Doubles that are not finite are
/// refused.
MN_API mn_status mn_load_members(mn_reader *in, const char *tag, int32_t oldest, int32_t newest,
                                 const mn_saved *members, int32_t count, void *state, int32_t *version);

#ifdef __cplusplus
}
#endif
#endif
