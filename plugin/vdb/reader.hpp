// SPDX-License-Identifier: Apache-2.0
//
// Private to plugin/vdb: our own reader of the .vdb format. OpenVDB's trusts the bytes: sizes in them are
// allocated before anything backs them, Blosc blocks may claim more than was read, and a tree that fails half
// way is torn down through pointers never set. This one checks every count against the bytes that are left
// and builds the tree through OpenVDB's public calls only, so that it is whole at every moment.
//
// The file, little-endian:
//
//   magic i64, file version u32, library version u32 u32, has-offsets u8, uuid 36 bytes     (file.cpp)
//   metadata: count i32, each name, type, size u32, bytes; strings are u32 + bytes
//   grid count i32; each grid:
//     unique name, type, name of the grid whose tree it shares, three offsets i64 (unused here)
//     compression u32, metadata, transform (type name and doubles)
//     tree: buffer count i32, background, tiles and children of the root; per inner node a child mask, a
//     value mask and values, then its children; per leaf a value mask; then per leaf the mask again and
//     values                                                                                (read_tree.cpp)
//   values: a byte that says which inactive values are left out, up to two of those, a mask that selects
//   between them, then active (or all) values, perhaps as half floats, perhaps in a Blosc or zlib block
#ifndef MENISCUS_PLUGIN_VDB_READER_HPP
#define MENISCUS_PLUGIN_VDB_READER_HPP

#include "plugin/vdb/grid.hpp"

#include <cstring>
#include <string>

namespace mn_vdb
{

/// Where we are in the bytes.
class cursor
{
  public:
    cursor(const void *bytes, size_t size)
        : start(static_cast<const uint8_t *>(bytes)), at(start), end(start + size)
    {
    }
    size_t left() const { return static_cast<size_t>(end - at); }
    size_t offset() const { return static_cast<size_t>(at - start); }

    const uint8_t *take(size_t size)
    {
        if (size > left())
            refuse(MN_ERROR_FORMAT,
                   "the file ends %zu bytes too early (at byte %zu); it was cut short or is damaged.",
                   size - left(), offset());
        const uint8_t *bytes = at;
        at += size;
        return bytes;
    }
    template <typename Number> Number number()
    {
        Number value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    std::string string()
    {
        const size_t size = number<uint32_t>();
        const auto *text = reinterpret_cast<const char *>(take(size));
        return std::string(text, size);
    }

  private:
    const uint8_t *start, *at, *end;
};

/// How the values of one grid are stored.
struct encoding {
    int components;       ///< 1 or 3
    bool is_double;       ///< single precision otherwise
    bool half;            ///< nodes hold half floats; background and inactive values are whole all the same
    uint32_t compression; ///< openvdb::io::COMPRESS_*
};

openvdb::FloatTree::Ptr read_float_tree(cursor &in, const encoding &code);
openvdb::Vec3STree::Ptr read_vector_tree(cursor &in, const encoding &code);

} // namespace mn_vdb

#endif
