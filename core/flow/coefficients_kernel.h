// SPDX-License-Identifier: Apache-2.0
//
// One block of coefficients.c, for cells that hold a VALUE; included once for each kind, with NAME(x) to tell
// their functions apart.

/// The block and two cells around it, and which of them are known; true when all are.
MN_INLINE bool NAME(load)(const transform_job *job, int32_t block, VALUE (*tile)[8][8], bool (*known)[8][8])
{
    const mn_flow_grid *grid = job->grid;
    const int32_t *neighbours = grid->table.neighbours[block];
    const mn_ivec3 b = grid->table.coords[block];
    const VALUE *from = job->from;
    bool all = true;
    for (int32_t x = 0; x < 8; x++)
        for (int32_t y = 0; y < 8; y++)
            for (int32_t part = 0; part < 3; part++) { // cells -2, -1 along z, then 0 to 3, then 4, 5
                const int32_t other = neighbours[9 * ((x + 2) >> 2) + 3 * ((y + 2) >> 2) + part];
                const int32_t first = part == 0 ? 0 : part == 1 ? 2 : 6, count = part == 1 ? 4 : 2;
                const int64_t at =
                    (int64_t)other * 64 + 16 * ((x + 2) & 3) + 4 * ((y + 2) & 3) + ((first + 2) & 3);
                for (int32_t k = 0; k < count; k++) {
                    const int32_t z = first + k;
                    const bool is =
                        other >= 0 &&
                        (job->known ? job->known[at + k]
                                    : is_around_box(grid, 4 * b.x + x - 2, 4 * b.y + y - 2, 4 * b.z + z - 2));
                    known[x][y][z] = is;
                    all &= is;
                    tile[x][y][z] = is ? from[at + k] : (VALUE){0};
                }
            }
    return all;
}

MN_INLINE void NAME(coefficients)(const VALUE *w, const bool *known, int32_t stride, VALUE out[4])
{
    VALUE d2[8];
    bool whole[8];
    for (int32_t i = 1; i < 7; i++) {
        whole[i] = known[(i - 1) * stride] && known[i * stride] && known[(i + 1) * stride];
        d2[i] = whole[i] ? w[(i - 1) * stride] - 2.0 * w[i * stride] + w[(i + 1) * stride] : (VALUE){0};
    }
    for (int32_t i = 2; i < 6; i++) {
        VALUE c = w[i * stride];
        if (whole[i]) {
            c -= 0.125 * d2[i];
            if (whole[i - 1] && whole[i + 1]) c += 0.015625 * (d2[i - 1] - 2.0 * d2[i] + d2[i + 1]);
        } else if (known[i * stride] && whole[i - 1] != whole[i + 1]) {
            c -= 0.125 * (whole[i - 1] ? d2[i - 1] : d2[i + 1]);
        }
        out[i - 2] = c;
    }
}

// The same ends as above: the polynomial of the last whole place goes on.
MN_INLINE void NAME(values)(const VALUE *c, const bool *known, int32_t stride, VALUE out[4])
{
    VALUE d2[8];
    bool whole[8];
    for (int32_t i = 1; i < 7; i++) {
        whole[i] = known[(i - 1) * stride] && known[i * stride] && known[(i + 1) * stride];
        d2[i] = whole[i] ? c[(i - 1) * stride] - 2.0 * c[i * stride] + c[(i + 1) * stride] : (VALUE){0};
    }
    for (int32_t i = 2; i < 6; i++) {
        out[i - 2] = c[i * stride];
        if (whole[i])
            out[i - 2] += 0.125 * d2[i];
        else if (known[i * stride] && whole[i - 1] != whole[i + 1])
            out[i - 2] += 0.125 * (whole[i - 1] ? d2[i - 1] : d2[i + 1]);
    }
}

// Both where all are known.
MN_INLINE void NAME(inner)(const VALUE *w, int32_t stride, bool inverse, VALUE out[4])
{
    VALUE d2[8];
    for (int32_t i = inverse ? 1 : 2; i < (inverse ? 7 : 6); i++)
        d2[i] = w[(i - 1) * stride] - 2.0 * w[i * stride] + w[(i + 1) * stride];
    for (int32_t i = 2; i < 6; i++)
        out[i - 2] = inverse
                         ? w[i * stride] - 0.125 * d2[i] + 0.015625 * (d2[i - 1] - 2.0 * d2[i] + d2[i + 1])
                         : w[i * stride] + 0.125 * d2[i];
}

/// One line of eight cells: its middle four become coefficients or values.
MN_INLINE void NAME(line)(const transform_job *job, bool all, const bool *known, int32_t stride, VALUE *w)
{
    VALUE line[4];
    if (all)
        NAME(inner)(w, stride, job->inverse, line);
    else if (job->inverse)
        NAME(coefficients)(w, known, stride, line);
    else
        NAME(values)(w, known, stride, line);
    for (int32_t i = 0; i < 4; i++) w[(i + 2) * stride] = line[i];
}

MN_MULTIVERSION static void NAME(block)(void *user, int32_t block)
{
    const transform_job *job = user;
    VALUE tile[8][8][8], *to = job->to;
    bool known[8][8][8];
    const bool all = NAME(load)(job, block, tile, known);
    for (int32_t y = 0; y < 8; y++)
        for (int32_t z = 0; z < 8; z++) NAME(line)(job, all, &known[0][y][z], 64, &tile[0][y][z]);
    for (int32_t x = 2; x < 6; x++)
        for (int32_t z = 0; z < 8; z++) NAME(line)(job, all, &known[x][0][z], 8, &tile[x][0][z]);
    for (int32_t x = 2; x < 6; x++)
        for (int32_t y = 2; y < 6; y++) {
            NAME(line)(job, all, known[x][y], 1, tile[x][y]);
            for (int32_t z = 2; z < 6; z++)
                if (known[x][y][z])
                    to[(int64_t)block * 64 + 16 * (x - 2) + 4 * (y - 2) + z - 2] = tile[x][y][z];
        }
}
