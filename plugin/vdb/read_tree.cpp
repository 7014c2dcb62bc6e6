// SPDX-License-Identifier: Apache-2.0
//
// The tree of a grid in a .vdb file (see reader.hpp for the format).
#include "plugin/vdb/reader.hpp"

#include <memory>
#include <vector>

#include <blosc.h>
#include <zlib.h>

#include <openvdb/io/Compression.h>

namespace mn_vdb
{

using openvdb::Coord;
using openvdb::Vec3s;

// ---- values of one node ----

static float half_to_float(uint16_t bits)
{
    const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float value;
    if (exponent == 0) {
        value = std::ldexp(static_cast<float>(mantissa), -24); // zero and subnormal
        return sign ? -value : value;
    }
    const uint32_t wide = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | mantissa << 13;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

/// Decodes the numbers of node after node, with buffers that stay.
class value_reader
{
  public:
    value_reader(cursor &bytes, const encoding &e) : in(bytes), code(e) {}

    /// One whole value: a background, a tile or an inactive value.
    void whole_value(float value[3])
    {
        for (int i = 0; i < code.components; i++)
            value[i] = code.is_double ? static_cast<float>(in.number<double>()) : in.number<float>();
    }
    void set_background(const float value[3]) { std::memcpy(background, value, sizeof background); }

    /// `count` values of a node, components together, into `values`, which has room for them; `active` is its
    /// value mask.
    template <typename Mask> void node_values(const Mask &active, size_t count, float *values);

  private:
    /// `count` numbers as stored.
    void numbers(size_t count, float *values);
    const uint8_t *block(size_t size);

    cursor &in;
    const encoding code;
    float background[3] = {0, 0, 0};
    std::vector<uint8_t> plain;
    std::vector<float> packed;
};

/// `size` bytes that may stand in a compressed block: i64 size of the block, negative for a plain one.
const uint8_t *value_reader::block(size_t size)
{
    if (!(code.compression & (openvdb::io::COMPRESS_BLOSC | openvdb::io::COMPRESS_ZIP))) return in.take(size);
    const auto stored = in.number<int64_t>();
    if (stored <= 0) {
        if (stored != -static_cast<int64_t>(size))
            refuse(MN_ERROR_FORMAT,
                   "a block before byte %zu is not as large as it should be; the file is damaged.",
                   in.offset());
        return in.take(size);
    }
    const uint8_t *bytes = in.take(static_cast<uint64_t>(stored));
    if (plain.size() < size) plain.resize(size);
    bool whole;
    if (code.compression & openvdb::io::COMPRESS_BLOSC) {
        size_t holds = 0;
        whole = blosc_cbuffer_validate(bytes, static_cast<size_t>(stored), &holds) == 0 && holds == size &&
                blosc_decompress_ctx(bytes, plain.data(), size, 1) == static_cast<int>(size);
    } else {
        uLongf holds = size;
        whole = uncompress(plain.data(), &holds, bytes, static_cast<uLong>(stored)) == Z_OK && holds == size;
    }
    if (!whole) refuse(MN_ERROR_FORMAT, "a compressed block before byte %zu is damaged.", in.offset());
    return plain.data();
}

void value_reader::numbers(size_t count, float *values)
{
    const size_t width = code.half ? 2 : code.is_double ? 8 : 4;
    if (count == 0 && code.half) return; // such a block is not even written
    const uint8_t *bytes = block(count * width);
    for (size_t i = 0; i < count; i++) {
        if (code.half) {
            uint16_t bits;
            std::memcpy(&bits, bytes + 2 * i, sizeof bits);
            values[i] = half_to_float(bits);
        } else if (code.is_double) {
            double value;
            std::memcpy(&value, bytes + 8 * i, sizeof value);
            values[i] = static_cast<float>(value);
        } else {
            std::memcpy(&values[i], bytes + 4 * i, sizeof values[i]);
        }
    }
}

template <typename Mask> void value_reader::node_values(const Mask &active, size_t count, float *values)
{
    using namespace openvdb::io;
    const int components = code.components;
    const size_t width = static_cast<size_t>(components);
    const auto scheme = in.number<int8_t>();
    if (scheme < NO_MASK_OR_INACTIVE_VALS || scheme > NO_MASK_AND_ALL_VALS)
        refuse(MN_ERROR_FORMAT, "byte %zu holds no known way to store a node (%d); the file is damaged.",
               in.offset() - 1, static_cast<int>(scheme));
    float inactive[2][3];
    for (int i = 0; i < components; i++) {
        inactive[0][i] = scheme == NO_MASK_OR_INACTIVE_VALS ? background[i] : -background[i];
        inactive[1][i] = background[i];
    }
    if (scheme == NO_MASK_AND_ONE_INACTIVE_VAL || scheme == MASK_AND_ONE_INACTIVE_VAL ||
        scheme == MASK_AND_TWO_INACTIVE_VALS)
        whole_value(inactive[0]);
    if (scheme == MASK_AND_TWO_INACTIVE_VALS) whole_value(inactive[1]);
    const uint8_t *selects_second = nullptr;
    if (scheme == MASK_AND_NO_INACTIVE_VALS || scheme == MASK_AND_ONE_INACTIVE_VAL ||
        scheme == MASK_AND_TWO_INACTIVE_VALS)
        selects_second = in.take(count / 8);

    if (!(code.compression & COMPRESS_ACTIVE_MASK) || scheme == NO_MASK_AND_ALL_VALS) {
        numbers(count * width, values);
        return;
    }
    const size_t active_count = active.countOn();
    packed.resize(active_count * width);
    numbers(active_count * width, packed.data());
    const float *next = packed.data();
    for (size_t i = 0; i < count; i++) {
        const float *from = inactive[selects_second && selects_second[i / 8] >> i % 8 & 1 ? 1 : 0];
        if (active.isOn(static_cast<openvdb::Index>(i))) from = next, next += components;
        for (int c = 0; c < components; c++) values[i * width + static_cast<size_t>(c)] = from[c];
    }
}

// ---- nodes ----

static float as_value(const float *numbers, float)
{
    return numbers[0];
}
static Vec3s as_value(const float *numbers, const Vec3s &)
{
    return Vec3s(numbers[0], numbers[1], numbers[2]);
}

template <typename Mask> static Mask read_mask(cursor &in)
{
    Mask mask;
    const uint8_t *bytes = in.take(Mask::SIZE / 8);
    for (openvdb::Index i = 0; i < Mask::WORD_COUNT; i++) {
        openvdb::Index64 word;
        std::memcpy(&word, bytes + i * sizeof word, sizeof word);
        mask.template getWord<openvdb::Index64>(i) = word;
    }
    return mask;
}

template <typename Tree> class tree_reader
{
  public:
    using Value = typename Tree::ValueType;
    using Leaf = typename Tree::LeafNodeType;
    using Upper = typename Tree::RootNodeType::ChildNodeType;

    tree_reader(cursor &bytes, const encoding &code) : in(bytes), values(bytes, code) {}
    typename Tree::Ptr read();

  private:
    Value whole_value()
    {
        float numbers[3] = {0, 0, 0};
        values.whole_value(numbers);
        return as_value(numbers, Value());
    }
    /// Origins stand on the grid of their nodes and rise, so none comes twice.
    Coord next_origin(Coord *last);
    template <typename Node> void read_inner(Node &node);
    void read_inner(Leaf &leaf);
    void read_leaf_values();

    cursor &in;
    value_reader values;
    Value background{};
    std::vector<Leaf *> leaves; ///< in the order of the file; they belong to the tree
    std::vector<float> numbers;
};

template <typename Tree> Coord tree_reader<Tree>::next_origin(Coord *last)
{
    Coord origin;
    for (int a = 0; a < 3; a++) origin[a] = in.number<int32_t>();
    for (int a = 0; a < 3; a++)
        if (origin[a] < -index_limit || origin[a] > index_limit)
            refuse(MN_ERROR_UNSUPPORTED, "voxels near index %d are too far from the origin.", origin[a]);
    const int32_t mask = static_cast<int32_t>(Upper::DIM) - 1;
    if (((origin[0] | origin[1] | origin[2]) & mask) != 0 || !(*last < origin))
        refuse(MN_ERROR_FORMAT,
               "a node stands at a place where none can (before byte %zu); the file is damaged.",
               in.offset());
    return *last = origin;
}

template <typename Tree> void tree_reader<Tree>::read_inner(Leaf &leaf)
{
    in.take(Leaf::SIZE / 8); // its mask, which comes again with its values
    leaves.push_back(&leaf);
}

template <typename Tree> template <typename Node> void tree_reader<Tree>::read_inner(Node &node)
{
    using Child = typename Node::ChildNodeType;
    using Mask = typename Node::NodeMaskType;
    constexpr openvdb::Index count = Node::NUM_VALUES;
    const Mask children = read_mask<Mask>(in), active = read_mask<Mask>(in);
    if (!(children & active).isOff())
        refuse(MN_ERROR_FORMAT,
               "a node says that a child is a value too (before byte %zu); the file is damaged.",
               in.offset());
    const size_t width = sizeof(Value) / sizeof(float);
    numbers.resize(count * width);
    values.node_values(active, count, numbers.data());
    for (openvdb::Index i = 0; i < count; i++) {
        if (children.isOn(i)) continue;
        const Value value = as_value(&numbers[i * width], Value());
        if (active.isOn(i) || value != background) node.addTile(i, value, active.isOn(i));
    }
    for (auto at = children.beginOn(); at; ++at) {
        const Coord origin = node.offsetToGlobalCoord(at.pos());
        std::unique_ptr<Child> child;
        if constexpr (Child::LEVEL == 0)
            child = std::make_unique<Child>(openvdb::PartialCreate(), origin, background, false);
        else
            child = std::make_unique<Child>(origin, background, false);
        Child &reference = *child;
        node.addChild(child.release());
        read_inner(reference);
    }
}

template <typename Tree> void tree_reader<Tree>::read_leaf_values()
{
    using Mask = typename Leaf::NodeMaskType;
    for (Leaf *leaf : leaves) {
        leaf->setValueMask(read_mask<Mask>(in));
        leaf->buffer().allocate();
        static_assert(sizeof(Value) % sizeof(float) == 0, "values are runs of floats");
        values.node_values(leaf->getValueMask(), Leaf::SIZE,
                           reinterpret_cast<float *>(leaf->buffer().data()));
    }
}

template <typename Tree> typename Tree::Ptr tree_reader<Tree>::read()
{
    if (in.number<int32_t>() != 1)
        refuse(MN_ERROR_UNSUPPORTED, "a grid with more than one buffer, as OpenVDB before 3.0 wrote them.");
    float first[3] = {0, 0, 0};
    values.whole_value(first);
    values.set_background(first);
    background = as_value(first, Value());
    auto tree = std::make_shared<Tree>(background);
    const auto tile_count = in.number<uint32_t>(), child_count = in.number<uint32_t>();
    // Counts need no check: every turn takes bytes, and the bytes end.
    const Coord before_all(openvdb::Coord::min());
    Coord last = before_all;
    for (uint32_t i = 0; i < tile_count; i++) {
        const Coord origin = next_origin(&last);
        const Value value = whole_value();
        tree->root().addTile(origin, value, in.number<uint8_t>() != 0);
    }
    last = before_all;
    for (uint32_t i = 0; i < child_count; i++) {
        auto child = std::make_unique<Upper>(next_origin(&last), background, false);
        Upper &reference = *child;
        tree->root().addChild(child.release());
        read_inner(reference);
    }
    read_leaf_values();
    return tree;
}

openvdb::FloatTree::Ptr read_float_tree(cursor &in, const encoding &code)
{
    return tree_reader<openvdb::FloatTree>(in, code).read();
}

openvdb::Vec3STree::Ptr read_vector_tree(cursor &in, const encoding &code)
{
    return tree_reader<openvdb::Vec3STree>(in, code).read();
}

} // namespace mn_vdb
