// SPDX-License-Identifier: Apache-2.0
//
// .vdb files: the parts around the trees on reading (see reader.hpp for the format), and writing, which is
// OpenVDB's own into a stream that hands its bytes on. The random id that OpenVDB puts into each file is
// replaced by a constant, so that the same grids give the same bytes.
#include "plugin/vdb/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <streambuf>
#include <vector>

#include <openvdb/io/Compression.h>
#include <openvdb/io/Stream.h>

namespace mn_vdb
{

using openvdb::FloatGrid;
using openvdb::Vec3SGrid;

constexpr uint32_t oldest_version = openvdb::OPENVDB_FILE_VERSION_NODE_MASK_COMPRESSION;
constexpr size_t uuid_offset = 21, uuid_size = 36;

// ---- header and metadata ----

static void read_header(cursor &in)
{
    if (in.left() < 8 || in.number<int64_t>() != openvdb::OPENVDB_MAGIC)
        refuse(MN_ERROR_FORMAT, "this is not an OpenVDB file.");
    const auto version = in.number<uint32_t>();
    const auto major = in.number<uint32_t>(), minor = in.number<uint32_t>();
    if (version > openvdb::OPENVDB_FILE_VERSION)
        refuse(MN_ERROR_UNSUPPORTED,
               "the file is of OpenVDB %u.%u with file version %u, newer than the %u known here; save it for "
               "an older "
               "version.",
               major, minor, version, openvdb::OPENVDB_FILE_VERSION);
    if (version < oldest_version)
        refuse(MN_ERROR_UNSUPPORTED,
               "the file has version %u, from before OpenVDB 2.0; load and save it with a newer program.",
               version);
    in.take(1 + uuid_size);
}

/// Types whose values are kept as such, with the size that they must have; 0 for any.
static const struct {
    const char *type;
    uint32_t size;
} metadata_types[] = {
    {"string", 0}, {"bool", 1},   {"int32", 4},  {"int64", 8},  {"float", 4},   {"double", 8},
    {"vec2i", 8},  {"vec2s", 8},  {"vec2d", 16}, {"vec3i", 12}, {"vec3s", 12},  {"vec3d", 24},
    {"vec4i", 16}, {"vec4s", 16}, {"vec4d", 32}, {"mat4s", 64}, {"mat4d", 128},
};

static openvdb::Metadata::Ptr read_metadata_value(cursor &in)
{
    const std::string type = in.string();
    const auto size = in.number<uint32_t>();
    const uint8_t *bytes = in.take(size);
    const auto *known = std::find_if(std::begin(metadata_types), std::end(metadata_types),
                                     [&](const auto &entry) { return type == entry.type; });
    if (known == std::end(metadata_types)) {
        // Not looked into, but written back as it came.
        auto value = std::make_shared<openvdb::UnknownMetadata>(type);
        value->setValue(openvdb::UnknownMetadata::ByteVec(bytes, bytes + size));
        return value;
    }
    if (known->size != 0 && size != known->size)
        refuse(MN_ERROR_FORMAT, "metadata of type %s has %u bytes instead of %u; the file is damaged.",
               known->type, size, known->size);
    if (type == "bool" && bytes[0] > 1)
        refuse(MN_ERROR_FORMAT, "a bool before byte %zu is %d; the file is damaged.", in.offset(), bytes[0]);
    std::string sized(reinterpret_cast<const char *>(&size), sizeof size);
    sized.append(reinterpret_cast<const char *>(bytes), size);
    std::istringstream stream(sized);
    openvdb::Metadata::Ptr value = openvdb::Metadata::createMetadata(type);
    value->read(stream);
    return value;
}

static openvdb::MetaMap read_metadata(cursor &in)
{
    openvdb::MetaMap map;
    const auto count = in.number<int32_t>();
    for (int32_t i = 0; i < count; i++) {
        const std::string name = in.string();
        const openvdb::Metadata::Ptr value = read_metadata_value(in);
        // Where the leaves stand in the file it came from.
        if (name == openvdb::GridBase::META_FILE_DELAYED_LOAD) continue;
        if (name.empty()) refuse(MN_ERROR_FORMAT, "metadata before byte %zu has no name.", in.offset());
        map.removeMeta(name);
        map.insertMeta(name, *value);
    }
    return map;
}

// ---- transforms ----

static mn_vec3 read_vec3(cursor &in)
{
    const auto x = in.number<double>(), y = in.number<double>(), z = in.number<double>();
    return mn_v3(x, y, z);
}

/// Every linear map; what can be computed from the rest (inverses, voxel sizes) is skipped.
static mn_mat4 read_transform(cursor &in)
{
    const std::string type = in.string();
    constexpr size_t vec3_bytes = 3 * sizeof(double);
    mn_vec3 scale = mn_v3(1, 1, 1), translation = mn_v3(0, 0, 0);
    if (type == "AffineMap" || type == "UnitaryMap") {
        mn_mat4 m;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) m.m[j][i] = in.number<double>();
        return m;
    }
    if (type == "TranslationMap") {
        translation = read_vec3(in);
    } else if (type == "ScaleMap" || type == "UniformScaleMap") {
        scale = read_vec3(in);
        in.take(4 * vec3_bytes);
    } else if (type == "ScaleTranslateMap" || type == "UniformScaleTranslateMap") {
        translation = read_vec3(in);
        scale = read_vec3(in);
        in.take(4 * vec3_bytes);
    } else if (type == "NonlinearFrustumMap") {
        refuse(MN_ERROR_UNSUPPORTED, "it has a frustum transform; resample it to a linear one first.");
    } else {
        refuse(MN_ERROR_UNSUPPORTED, "it has a transform of the unknown type '%.60s'.", type.c_str());
    }
    return mn_m4_affine(mn_m3_diagonal(scale.x, scale.y, scale.z), translation);
}

// ---- grids ----

/// "Tree_vec3s_5_4_3_HalfFloat" -> what it holds; refuses what is not a float or vec3 grid of the usual
/// shape.
static encoding read_grid_type(std::string type)
{
    encoding code = {};
    const std::string half = "_HalfFloat";
    if (type.size() > half.size() && type.compare(type.size() - half.size(), half.size(), half) == 0) {
        code.half = true;
        type.resize(type.size() - half.size());
    }
    code.components = type == "Tree_vec3s_5_4_3" || type == "Tree_vec3d_5_4_3" ? 3 : 1;
    code.is_double = type == "Tree_double_5_4_3" || type == "Tree_vec3d_5_4_3";
    if (code.components == 1 && !code.is_double && type != "Tree_float_5_4_3")
        refuse(MN_ERROR_UNSUPPORTED,
               "it is a grid of type '%.60s'; only float, double and vec3 grids can be read.", type.c_str());
    return code;
}

/// Trees by the unique names of their grids, for grids that share them.
struct trees {
    std::map<std::string, openvdb::FloatTree::Ptr> scalar;
    std::map<std::string, openvdb::Vec3STree::Ptr> vector;
};

template <typename Tree, typename Read>
static mn_volume place_grid(std::map<std::string, std::shared_ptr<Tree>> &known,
                            const std::string &unique_name, const std::string &parent,
                            const openvdb::MetaMap &metadata, const mn_mat4 &to_world, Read &&read)
{
    std::shared_ptr<Tree> tree;
    if (parent.empty()) {
        tree = read();
    } else {
        const auto found = known.find(parent);
        if (found == known.end())
            refuse(MN_ERROR_FORMAT, "it shares the voxels of '%.60s', which is not in the file before it.",
                   parent.c_str());
        tree = found->second;
    }
    known[unique_name] = tree;
    auto grid = openvdb::Grid<Tree>::create(tree);
    static_cast<openvdb::MetaMap &>(*grid) = metadata;
    std::string name = grid->getName();
    if (name.empty()) name = unique_name.substr(0, unique_name.find('\x1e'));
    return wrap(typename openvdb::Grid<Tree>::ConstPtr(grid), name, to_world);
}

static mn_volume read_grid(cursor &in, trees &known, const std::string &unique_name)
{
    encoding code = read_grid_type(in.string());
    const std::string parent = in.string();
    in.take(3 * sizeof(int64_t)); // where its parts stand; they follow each other anyway
    code.compression = in.number<uint32_t>();
    constexpr uint32_t all =
        openvdb::io::COMPRESS_ZIP | openvdb::io::COMPRESS_ACTIVE_MASK | openvdb::io::COMPRESS_BLOSC;
    if (code.compression & ~all)
        refuse(MN_ERROR_UNSUPPORTED, "it is compressed in an unknown way (%u).", code.compression);
    const openvdb::MetaMap metadata = read_metadata(in);
    const mn_mat4 to_world = read_transform(in);
    if (code.components == 1)
        return place_grid(known.scalar, unique_name, parent, metadata, to_world,
                          [&] { return read_float_tree(in, code); });
    return place_grid(known.vector, unique_name, parent, metadata, to_world,
                      [&] { return read_vector_tree(in, code); });
}

/// As shown to people: "density[1]" for the second of that name.
static std::string readable(const std::string &unique_name)
{
    std::string text = unique_name.substr(0, 60);
    const size_t suffix = text.find('\x1e');
    if (suffix != std::string::npos) text = text.substr(0, suffix) + "[" + text.substr(suffix + 1) + "]";
    return text;
}

static void read_file(mn_context *ctx, cursor &in, mn_geo *geo)
{
    read_header(in);
    read_metadata(in);
    const auto grid_count = in.number<int32_t>();
    if (grid_count < 0) refuse(MN_ERROR_FORMAT, "the file says it has %d grids; it is damaged.", grid_count);
    trees known;
    for (int32_t i = 0; i < grid_count; i++) {
        if (mn_check_cancelled(ctx) != MN_OK) throw refusal(MN_ERROR_CANCELLED, "cancelled");
        const std::string unique_name = in.string();
        mn_volume volume;
        try {
            volume = read_grid(in, known, unique_name);
        } catch (const refusal &r) {
            // An argument of ours is a number in the file.
            const mn_status status = r.status == MN_ERROR_ARGUMENT ? MN_ERROR_FORMAT : r.status;
            throw refusal(status, "grid '" + readable(unique_name) + "': " + r.what());
        }
        const mn_status status = mn_geo_add_volume(geo, volume, -1, nullptr);
        mn_volume_release(&volume);
        if (status != MN_OK) throw refusal(status, mn_context_message(ctx));
    }
}

// ---- writing ----

/// Hands bytes on to a sink as they come.
class sink_buffer final : public std::streambuf
{
  public:
    sink_buffer(mn_vdb_sink *function, void *user_data) : sink(function), user(user_data) {}
    mn_status status = MN_OK; ///< of the first call that failed
    bool starved = false;     ///< of memory, which a stream would keep to itself

  protected:
    int_type overflow(int_type c) override
    {
        const char byte = traits_type::to_char_type(c);
        return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char *bytes, std::streamsize size) override
    {
        if (status != MN_OK || size <= 0) return 0;
        try {
            pending.append(bytes, static_cast<size_t>(size));
        } catch (const std::bad_alloc &) {
            starved = true;
            return 0;
        }
        // The header waits until the id in it is there and replaced.
        if (pending.size() >= uuid_offset + uuid_size && pending.size() >= threshold) flush();
        return status == MN_OK ? size : 0;
    }
    int sync() override
    {
        flush();
        return status == MN_OK ? 0 : -1;
    }

  private:
    void flush()
    {
        if (first && pending.size() >= uuid_offset + uuid_size) {
            pending.replace(uuid_offset, uuid_size, "4D454E49-5343-5553-0000-000000000001");
            first = false;
        }
        if (!pending.empty() && status == MN_OK) status = sink(user, pending.data(), pending.size());
        pending.clear();
    }

    static constexpr size_t threshold = 1 << 16;
    mn_vdb_sink *sink;
    void *user;
    std::string pending;
    bool first = true;
};

/// The simplest map that is exactly this matrix.
static openvdb::math::MapBase::Ptr map_of(const mn_mat4 &m)
{
    using namespace openvdb::math;
    bool diagonal = true;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) diagonal = diagonal && (i == j || m.m[i][j] == 0);
    if (!diagonal) {
        Mat4d transposed; // OpenVDB multiplies row vectors from the left
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) transposed(j, i) = m.m[i][j];
        return std::make_shared<AffineMap>(transposed);
    }
    const Vec3d scale(m.m[0][0], m.m[1][1], m.m[2][2]), translation(m.m[0][3], m.m[1][3], m.m[2][3]);
    const bool uniform = scale[0] == scale[1] && scale[1] == scale[2];
    if (translation == Vec3d(0.0)) {
        if (uniform) return std::make_shared<UniformScaleMap>(scale[0]);
        return std::make_shared<ScaleMap>(scale);
    }
    if (uniform) return std::make_shared<UniformScaleTranslateMap>(scale[0], translation);
    return std::make_shared<ScaleTranslateMap>(scale, translation);
}

/// A transform with just this map. Its constructor would replace it by a simpler one, rounded; reading it
/// does not.
static openvdb::math::Transform::Ptr transform_with(const openvdb::math::MapBase &map)
{
    std::stringstream stream;
    openvdb::writeString(stream, map.type());
    map.write(stream);
    openvdb::io::setCurrentVersion(stream);
    auto transform = std::make_shared<openvdb::math::Transform>();
    transform->read(stream);
    return transform;
}

openvdb::GridBase::ConstPtr grid_of(mn_volume volume)
{
    const handle &h = unwrap(volume);
    openvdb::math::Transform::Ptr transform;
    try {
        transform = transform_with(*map_of(h.info.index_to_world));
    } catch (const openvdb::ArithmeticError &) {
        refuse(
            MN_ERROR_UNSUPPORTED,
            "the voxels of '%.60s' are %g m large, and a .vdb file cannot hold any below 1.5e-5; scale the "
            "volume up first.",
            h.name.c_str(), h.info.voxel_size);
    }
    const openvdb::GridBase &grid = h.scalar ? static_cast<const openvdb::GridBase &>(*h.scalar) : *h.vector;
    openvdb::MetaMap metadata(grid);
    metadata.removeMeta(openvdb::GridBase::META_GRID_NAME);
    metadata.insertMeta(openvdb::GridBase::META_GRID_NAME, openvdb::StringMetadata(h.name));
    return grid.copyGridReplacingMetadataAndTransform(metadata, transform);
}

static mn_status write_grids(mn_context *ctx, const openvdb::GridCPtrVec &grids, mn_vdb_sink *sink,
                             void *user)
{
    sink_buffer buffer(sink, user);
    std::ostream stream(&buffer);
    openvdb::MetaMap metadata;
    metadata.insertMeta("creator", openvdb::StringMetadata("Meniscus"));
    openvdb::io::Stream(stream).write(grids, metadata);
    stream.flush();
    if (buffer.starved) throw std::bad_alloc();
    if (buffer.status != MN_OK) return buffer.status;
    return stream.good() ? MN_OK : mn_fail(ctx, MN_ERROR_IO, "the VDB stream could not be written.");
}

} // namespace mn_vdb

using namespace mn_vdb;

extern "C" mn_status mn_vdb_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                        mn_geo **geo)
{
    *geo = nullptr;
    MN_TRY(mn_geo_create(ctx, geo));
    const mn_status status = guarded(ctx, name, MN_ERROR_FORMAT, [&] {
        cursor in(bytes, size);
        read_file(ctx, in, *geo);
    });
    if (status == MN_OK) return MN_OK;
    mn_geo_free(*geo);
    *geo = nullptr;
    return status;
}

extern "C" mn_status mn_vdb_read(mn_context *ctx, const char *path, mn_geo **geo)
{
    *geo = nullptr;
    std::FILE *file = std::fopen(path, "rb");
    if (!file) return mn_fail(ctx, MN_ERROR_IO, "%s: cannot open: %s.", path, std::strerror(errno));
    std::vector<char> bytes;
    const mn_status status = guarded(ctx, path, MN_ERROR_IO, [&] {
        size_t got;
        do {
            const size_t before = bytes.size(), step = size_t{1} << 20;
            bytes.resize(before + step);
            got = std::fread(bytes.data() + before, 1, step, file);
            bytes.resize(before + got);
        } while (got > 0);
        if (std::ferror(file)) refuse(MN_ERROR_IO, "cannot read: %s.", std::strerror(errno));
    });
    std::fclose(file);
    return status == MN_OK ? mn_vdb_read_memory(ctx, bytes.data(), bytes.size(), path, geo) : status;
}

extern "C" mn_status mn_vdb_write(mn_context *ctx, const mn_geo *geo, mn_vdb_sink *sink, void *user)
{
    mn_status written = MN_OK;
    const mn_status status = guarded(ctx, "writing VDB", MN_ERROR_IO, [&] {
        openvdb::GridCPtrVec grids;
        const uint8_t *kinds = mn_geo_primitive_kinds(geo);
        for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
            if (kinds[i] == MN_VOLUME) grids.push_back(grid_of(mn_geo_volume(geo, i)));
        written = write_grids(ctx, grids, sink, user);
    });
    return status == MN_OK ? written : status;
}

extern "C" mn_status mn_vdb_write_volume(mn_context *ctx, mn_volume volume, mn_vdb_sink *sink, void *user)
{
    mn_status written = MN_OK;
    const mn_status status = guarded(ctx, "writing VDB", MN_ERROR_IO, [&] {
        written = write_grids(ctx, openvdb::GridCPtrVec{grid_of(volume)}, sink, user);
    });
    return status == MN_OK ? written : status;
}
