// SPDX-License-Identifier: Apache-2.0
//
// Pictures: memory, pasting, numbers on them, and PNG files.
#include "plugin/preview/picture.h"
#include "plugin/io/io.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 32768, DIGIT_WIDTH = 5, DIGIT_HEIGHT = 7 };

static size_t picture_bytes(int32_t width, int32_t height)
{
    return mn_bytes((int64_t)width * height, 4);
}

mn_status mn_picture_create(mn_context *ctx, int32_t width, int32_t height, mn_picture *picture)
{
    memset(picture, 0, sizeof *picture);
    if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "A picture of %d x %d pixels is not possible; at most %d each way.", (int)width,
                       (int)height, SIDE_MAX);
    uint8_t *rgba = mn_allocate_zero(ctx, picture_bytes(width, height));
    if (!rgba) return MN_ERROR_MEMORY;
    *picture = (mn_picture){ctx, width, height, rgba};
    return MN_OK;
}

void mn_picture_free(mn_picture *picture)
{
    if (!picture || !picture->rgba) return;
    mn_release(picture->ctx, picture->rgba, picture_bytes(picture->width, picture->height));
    memset(picture, 0, sizeof *picture);
}

void mn_picture_paste(mn_picture *sheet, const mn_picture *tile, int32_t x, int32_t y)
{
    if (x < 0 || x >= sheet->width) return;
    const int32_t width = tile->width < sheet->width - x ? tile->width : sheet->width - x;
    for (int32_t row = 0; row < tile->height; row++) {
        if (y + row < 0 || y + row >= sheet->height) continue;
        memcpy(sheet->rgba + 4 * ((int64_t)(y + row) * sheet->width + x),
               tile->rgba + 4 * ((int64_t)row * tile->width), 4 * (size_t)width);
    }
}

/// Rows of five dots, the highest bit on the left: 0 to 9 and the minus sign.
static const uint8_t digits[11][DIGIT_HEIGHT] = {
    {14, 17, 17, 17, 17, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 6, 8, 16, 31},
    {14, 17, 1, 6, 1, 17, 14},    {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 4, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},   {0, 0, 0, 14, 0, 0, 0},
};

static void draw_dot(mn_picture *picture, int32_t x, int32_t y, int32_t side)
{
    static const uint8_t ink[4] = {70, 72, 76, 255};
    for (int32_t j = y; j < y + side; j++)
        for (int32_t i = x; i < x + side; i++)
            if (i >= 0 && j >= 0 && i < picture->width && j < picture->height)
                memcpy(picture->rgba + 4 * ((int64_t)j * picture->width + i), ink, sizeof ink);
}

void mn_picture_draw_number(mn_picture *picture, int64_t number, int32_t x, int32_t y, int32_t scale)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    for (const char *c = text; *c; c++, x += (DIGIT_WIDTH + 1) * scale) {
        const uint8_t *rows = digits[*c == '-' ? 10 : *c - '0'];
        for (int32_t row = 0; row < DIGIT_HEIGHT; row++)
            for (int32_t column = 0; column < DIGIT_WIDTH; column++)
                if (rows[row] >> (DIGIT_WIDTH - 1 - column) & 1)
                    draw_dot(picture, x + column * scale, y + row * scale, scale);
    }
}

// ---- PNG ----

typedef struct png_output {
    mn_context *ctx;
    mn_safe_file *file;
    mn_status status;
} png_output;

static void png_output_write(png_structp png, png_bytep bytes, size_t size)
{
    png_output *output = png_get_io_ptr(png);
    output->status = mn_safe_file_write(output->file, bytes, size);
    if (output->status != MN_OK) png_error(png, "write");
}

static void png_output_flush(png_structp png)
{
    (void)png;
}

/// The reason stands in the context already; libpng's own would go to stderr.
static void png_output_error(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void png_output_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

/// libpng leaves through longjmp on failure, so nothing in here may need cleaning up by this function itself.
static void write_rows(png_structp png, png_infop info, const mn_picture *picture, bool with_alpha)
{
    png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8,
                 with_alpha ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 4);
    png_write_info(png, info);
    if (!with_alpha) png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (int32_t row = 0; row < picture->height; row++)
        png_write_row(png, picture->rgba + 4 * (int64_t)row * picture->width);
    png_write_end(png, info);
}

static mn_status encode(png_output *output, const mn_picture *picture, bool with_alpha)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, png_output_error, png_output_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return mn_fail(output->ctx, MN_ERROR_MEMORY, "Memory ran out while a picture was written.");
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        if (output->status != MN_OK) return output->status;
        return mn_fail(output->ctx, MN_ERROR_IO, "The picture could not be encoded as PNG.");
    }
    png_set_write_fn(png, output, png_output_write, png_output_flush);
    write_rows(png, info, picture, with_alpha);
    png_destroy_write_struct(&png, &info);
    return MN_OK;
}

mn_status mn_picture_write_png(const mn_picture *picture, const char *path, bool with_alpha)
{
    png_output output = {.ctx = picture->ctx};
    MN_TRY(mn_safe_file_open(picture->ctx, path, &output.file));
    const mn_status status = encode(&output, picture, with_alpha);
    if (status == MN_OK) return mn_safe_file_commit(output.file);
    mn_safe_file_abandon(output.file);
    return status;
}
