// SPDX-License-Identifier: Apache-2.0
//
// The JSON reader: every kind of value as text and in binary, numbers to the last bit, and what is hostile:
// depth, length, lies.
#include "plugin/json/read.h"
#include "plugin/json/write.h"
#include "support/check.h"

#include <float.h>

typedef struct fixture {
    mn_context *ctx;
    mn_source *source;
    mn_json json;
} fixture;

static void open_bytes(fixture *f, const void *bytes, size_t size)
{
    f->ctx = mn_context_create(NULL);
    check_ok(f->ctx, mn_source_open_memory(f->ctx, bytes, size, "test", &f->source));
    check_ok(f->ctx, mn_json_open(f->ctx, f->source, &f->json));
}

static void open_text(fixture *f, const char *text)
{
    open_bytes(f, text, strlen(text));
}

static void close_all(fixture *f)
{
    mn_json_close(&f->json);
    mn_source_close(f->source);
    assert_int_equal(mn_context_bytes(f->ctx), 0);
    mn_context_free(f->ctx);
}

/// Reads it all; gives the status of the first failure.
static mn_status walk(fixture *f)
{
    do {
        MN_TRY(mn_json_next(&f->json));
    } while (f->json.depth > 0);
    return mn_json_finish(&f->json);
}

static void check_text_fails(const char *text, const char *part)
{
    fixture f;
    open_text(&f, text);
    check_fails(f.ctx, walk(&f), MN_ERROR_FORMAT, part);
    close_all(&f);
}

static void text_gives_its_values_in_order(void **state)
{
    (void)state;
    fixture f;
    open_text(&f, " [1, -2.5e3,\"tw\\\"o\", {\"k\": true, \"l\":[]}, null, false]\n");
    mn_json *j = &f.json;
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_ARRAY, "a"));
    int64_t integer;
    double real;
    check_ok(f.ctx, mn_json_expect_int(j, "b", &integer));
    assert_int_equal(integer, 1);
    check_ok(f.ctx, mn_json_expect_real(j, "c", &real));
    assert_true(real == -2500.0);
    check_ok(f.ctx, mn_json_expect_string(j, "d", 10));
    assert_string_equal(j->string.data, "tw\"o");
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_MAP, "e"));
    bool more;
    check_ok(f.ctx, mn_json_next_key(j, &more));
    assert_true(more && mn_json_is(j, "k"));
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_BOOL, "f"));
    assert_int_equal(j->integer, 1);
    check_ok(f.ctx, mn_json_next_key(j, &more));
    assert_true(more && mn_json_is(j, "l"));
    check_ok(f.ctx, mn_json_skip_next(j));
    check_ok(f.ctx, mn_json_next_key(j, &more));
    assert_false(more);
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_NULL, "g"));
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_BOOL, "h"));
    check_ok(f.ctx, mn_json_expect(j, MN_JSON_END, "i"));
    check_ok(f.ctx, mn_json_finish(j));
    close_all(&f);
}

static void text_that_is_not_json_is_refused(void **state)
{
    (void)state;
    check_text_fails("[1 2]", "expected ',' or ']' but found '2'");
    check_text_fails("[1,]", "expected a value but found ']'");
    check_text_fails("[,1]", "expected a value but found ','");
    check_text_fails("{\"a\" 1}", "expected ':' after a key but found '1'");
    check_text_fails("{1: 2}", "expected a key in \"quotes\" but found '1'");
    check_text_fails("[1}", "expected ',' or ']' but found '}'");
    check_text_fails("[truE]", "'truE' is not a value");
    check_text_fails("[1.2.3]", "is not a value");
    check_text_fails("[\"open", "truncated");
    check_text_fails("[\"\\q\"]", "after a backslash but found 'q'");
    check_text_fails("[\"\\ud800\"]", "surrogate");
    check_text_fails("[\"\\udc00\"]", "surrogate");
    check_text_fails("[\"\\u12x4\"]", "hexadecimal");
    check_text_fails("[1", "truncated");
    check_text_fails("[1] 2", "more data after the end");
}

static void unicode_becomes_utf8(void **state)
{
    (void)state;
    fixture f;
    open_text(&f, "\"\\u0041\\u00e9\\u20ac\\ud83d\\udca7\"");
    check_ok(f.ctx, mn_json_expect_string(&f.json, "s", 100));
    assert_string_equal(f.json.string.data, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa7");
    close_all(&f);
}

/// Against strtod, which rounds correctly, for every way that a number is scanned.
static void text_numbers_are_the_nearest_double(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0",
                                          "-0",
                                          "0.1",
                                          "123456789012345678",
                                          "1234567890123456789",
                                          "99999999999999999999",
                                          "1e22",
                                          "1e23",
                                          "1e-22",
                                          "1e-23",
                                          "4.9e-324",
                                          "1.7976931348623157e308",
                                          "1e400",
                                          "-1e-400",
                                          "9007199254740993",
                                          "0.800000012000000038",
                                          "3.1415926535897932384626433832795",
                                          "1E+5",
                                          "0.000001",
                                          "123.456e-7",
                                          "5e-1",
                                          "1.50774851999999991e-07"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        fixture f;
        double real;
        open_text(&f, numbers[i]);
        check_ok(f.ctx, mn_json_expect_real(&f.json, "n", &real));
        const double expected = strtod(numbers[i], NULL);
        assert_memory_equal(&real, &expected, sizeof real);
        close_all(&f);
    }
    fixture f;
    int64_t integer;
    open_text(&f, "[-9223372036854775808, 9223372036854775807, 9223372036854775808]");
    check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_ARRAY, "a"));
    check_ok(f.ctx, mn_json_expect_int(&f.json, "i", &integer));
    assert_true(integer == INT64_MIN);
    check_ok(f.ctx, mn_json_expect_int(&f.json, "i", &integer));
    assert_true(integer == INT64_MAX);
    check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_REAL, "beyond"));
    close_all(&f);
}

static void not_finite_numbers_are_read(void **state)
{
    (void)state;
    fixture f;
    float values[5];
    open_text(&f, "[nan, NaN, inf, -Infinity, -inf]");
    check_ok(f.ctx, mn_json_exact_numbers(&f.json, MN_JSON_F32, values, 5, "v"));
    assert_true(isnan(values[0]) && isnan(values[1]));
    assert_true(values[2] == INFINITY && values[3] == -INFINITY && values[4] == -INFINITY);
    close_all(&f);
}

/// The definition of the format, against powers of two.
static void half_floats_are_exact(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        const int sign = h & 0x8000 ? -1 : 1, exponent = (int)(h >> 10 & 31), fraction = (int)(h & 0x3ff);
        const float value = mn_half_to_float((uint16_t)h);
        if (exponent == 31) {
            assert_true(fraction ? isnan(value) : value == (float)sign * INFINITY);
            continue;
        }
        const double expected =
            exponent == 0 ? sign * ldexp(fraction, -24) : sign * ldexp(1024 + fraction, exponent - 25);
        assert_true((double)value == expected);
        assert_int_equal(signbit(value) != 0, sign < 0);
    }
}

static const uint8_t magic[] = {0x7f, 'N', 'S', 'J', 'b'};

typedef struct bytes {
    uint8_t data[4096];
    size_t size;
} bytes;

static void add(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}
#define ADD(b, ...) add(b, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void binary_numbers_of_every_type_are_read(void **state)
{
    (void)state;
    bytes b = {0};
    add(&b, magic, sizeof magic);
    ADD(&b, '[', 0x11, 0xfe, 0x12, 0x00, 0x80, 0x13, 1, 0, 0, 0x80, 0x14, 0, 0, 0, 0, 1, 0, 0, 0);
    ADD(&b, 0x21, 0xff, 0x22, 0xff, 0xff, 0x18, 0x00, 0xbc, 0x19, 0, 0, 0x20, 0x40, 0x10, 7, 0x30, 0x31);
    ADD(&b, 0x1a, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, ']');
    const double expected[] = {-2, -32768, -2147483647, 4294967296.0, 255, 65535, -1, 2.5, 1, 0, 1, 0.5};
    fixture f;
    double values[12];
    open_bytes(&f, b.data, b.size);
    check_ok(f.ctx, mn_json_exact_numbers(&f.json, MN_JSON_F64, values, 12, "v"));
    for (int i = 0; i < 12; i++) assert_true(values[i] == expected[i]);
    check_ok(f.ctx, mn_json_finish(&f.json));
    close_all(&f);
}

/// Every uniform type to every number type that holds its values.
static void uniform_arrays_convert(void **state)
{
    (void)state;
    static const uint8_t types[] = {0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x18, 0x19, 0x1a};
    enum { COUNT = 2500 }; // more than one chunk of the conversion
    for (size_t t = 0; t < sizeof types; t++) {
        const size_t size = mn_json_element_bytes(types[t]);
        uint8_t *data = calloc(1, 64 + COUNT * 8);
        size_t used = sizeof magic;
        memcpy(data, magic, sizeof magic);
        const uint8_t head[] = {0x40, types[t], 0xf2, COUNT & 255, COUNT >> 8};
        memcpy(data + used, head, sizeof head);
        used += sizeof head;
        for (int i = 0; i < COUNT; i++, used += size) {
            const int64_t integer = i % 100;
            const float f32 = (float)integer;
            const double f64 = (double)integer;
            // 64 + i % 36 as halves: the only ones needed are 2^6 + k, k in the top six bits of the fraction
            const uint16_t f16 = (uint16_t)(0x5400 + i % 36 * 16);
            const void *from = types[t] == 0x18   ? (const void *)&f16
                               : types[t] == 0x19 ? (const void *)&f32
                               : types[t] == 0x1a ? (const void *)&f64
                                                  : &integer;
            memcpy(data + used, from, size);
        }
        for (int to = MN_JSON_F32; to <= MN_JSON_U8; to++) {
            if (to == MN_STRING) continue;
            double storage[COUNT];
            fixture f;
            open_bytes(&f, data, used);
            check_ok(f.ctx, mn_json_exact_numbers(&f.json, (mn_json_number)to, storage, COUNT, "v"));
            for (int i = 0; i < COUNT; i++) {
                const double expected = types[t] == 0x18 ? 64 + i % 36 : i % 100;
                const double value = to == MN_JSON_F32   ? (double)((float *)storage)[i]
                                     : to == MN_JSON_F64 ? storage[i]
                                     : to == MN_JSON_I32 ? ((int32_t *)storage)[i]
                                     : to == MN_JSON_I64 ? (double)((int64_t *)storage)[i]
                                                         : ((uint8_t *)storage)[i];
                assert_true(value == expected);
            }
            close_all(&f);
        }
        free(data);
    }
}

static void numbers_outside_their_type_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mn_json_number type;
    } cases[] = {{"[2147483648]", MN_JSON_I32}, {"[-2147483649]", MN_JSON_I32}, {"[0.5]", MN_JSON_I64},
                 {"[256]", MN_JSON_U8},         {"[-1]", MN_JSON_U8},           {"[1e30]", MN_JSON_I64},
                 {"[nan]", MN_JSON_I32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        double value;
        open_text(&f, cases[i].text);
        check_fails(f.ctx, mn_json_exact_numbers(&f.json, cases[i].type, &value, 1, "v"), MN_ERROR_FORMAT,
                    "is not one of the");
        close_all(&f);
    }
}

static void tokens_are_defined_used_and_forgotten(void **state)
{
    (void)state;
    bytes b = {0};
    add(&b, magic, sizeof magic);
    ADD(&b, '[', 0x2b, 3, 2, 'h', 'i', 0x26, 3, 0x2b, 3, 1, 'x', 0x26, 3, 0x40, 0x26, 2, 3, 3);
    ADD(&b, 0x40, 0x27, 2, 1, 'a', 0, 0x2d, 3, 0x26, 3, ']');
    static const char *const expected[] = {"hi", "x"};
    fixture f;
    open_bytes(&f, b.data, b.size);
    check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_ARRAY, "a"));
    for (int i = 0; i < 2; i++) {
        check_ok(f.ctx, mn_json_expect_string(&f.json, "s", 9));
        assert_string_equal(f.json.string.data, expected[i]);
    }
    check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_ARRAY, "uniform tokens"));
    check_ok(f.ctx, mn_json_expect_string(&f.json, "s", 9));
    assert_string_equal(f.json.string.data, "x");
    check_ok(f.ctx, mn_json_expect_string(&f.json, "s", 9));
    check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_END, "e"));
    check_ok(f.ctx, mn_json_skip_next(&f.json)); // the strings
    check_fails(f.ctx, mn_json_next(&f.json), MN_ERROR_FORMAT, "used before it is defined");
    close_all(&f);
}

static void check_binary_fails(const void *data, size_t size, const char *part)
{
    bytes b = {0};
    add(&b, magic, sizeof magic);
    add(&b, data, size);
    fixture f;
    open_bytes(&f, b.data, b.size);
    check_fails(f.ctx, walk(&f), MN_ERROR_FORMAT, part);
    close_all(&f);
}
#define CHECK_BINARY_FAILS(part, ...)                                                                        \
    check_binary_fails((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), part)

static void binary_lies_are_refused(void **state)
{
    (void)state;
    CHECK_BINARY_FAILS("not a length", '[', 0x27, 0xf1);
    CHECK_BINARY_FAILS("negative", '[', 0x27, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0x80);
    CHECK_BINARY_FAILS("longer than", '[', 0x27, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0x10);
    CHECK_BINARY_FAILS("truncated", '[', 0x27, 0xf4, 0, 0, 0x10, 0, 'x');
    CHECK_BINARY_FAILS("truncated", '[', 0x40, 0x19, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
    CHECK_BINARY_FAILS("there is no array type", '[', 0x40, 0x55, 1);
    CHECK_BINARY_FAILS("does not start a value", '[', 0x55);
    CHECK_BINARY_FAILS("end of a map", '[', '}');
    CHECK_BINARY_FAILS("end of a map", '{', 0x27, 1, 'k', '}');
    CHECK_BINARY_FAILS("key in a map", '{', 0x11, 1);
    CHECK_BINARY_FAILS("far beyond", '[', 0x2b, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 'x');
    CHECK_BINARY_FAILS("zero byte", '[', 0x2b, 0, 1, 0);
    CHECK_BINARY_FAILS("more data", '[', ']', 0);
}

/// A million brackets cost neither stack nor memory.
static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { LEVELS = 1000000 };
    char *data = malloc(LEVELS + 8);
    for (int binary = 0; binary < 2; binary++) {
        fixture f;
        memcpy(data, magic, sizeof magic);
        memset(data + (binary ? sizeof magic : 0), '[', LEVELS);
        open_bytes(&f, data, LEVELS);
        check_fails(f.ctx, walk(&f), MN_ERROR_FORMAT, "256 levels");
        assert_true(mn_context_peak_bytes(f.ctx) < 1 << 16);
        close_all(&f);
    }
    free(data);
}

static void long_things_are_refused(void **state)
{
    (void)state;
    const size_t size = ((size_t)MN_JSON_STRING_MAX) + 16;
    char *data = malloc(size + 1);
    memset(data, 'x', size);
    data[size] = '\0';
    data[0] = '"';
    check_text_fails(data, "longer than");
    memset(data, '1', 1 << 20);
    data[1 << 20] = '\0';
    check_text_fails(data, "400 characters");
    free(data);
}

/// What the writer writes, the reader reads, in both forms.
static mn_status append(void *user, const void *data, size_t size)
{
    add(user, data, size);
    return MN_OK;
}

static void written_values_come_back(void **state)
{
    (void)state;
    static const int64_t integers[] = {
        0,     -1,      127,          128,           -129,      32768,
        65536, 1 << 30, 2147483648LL, -2147483649LL, INT64_MIN, 900719925474099301};
    const uint8_t flags[] = {1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1,
                             0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1};
    const float reals[] = {0.1f, -0.0f, FLT_MAX, FLT_MIN, 1e-45f};
    for (int binary = 0; binary < 2; binary++) {
        bytes b = {0};
        mn_json_writer *w = malloc(sizeof *w);
        mn_json_write_begin(w, (mn_writer){NULL, &b, append}, binary);
        mn_json_begin_array(w);
        for (int i = 0; i < 12; i++) mn_json_write_int(w, integers[i]);
        mn_json_write_key(w, "again");
        mn_json_write_key(w, "again");
        mn_json_write_bools(w, flags, sizeof flags);
        mn_json_write_numbers(w, MN_JSON_F32, reals, 5);
        mn_json_end_array(w);
        check_ok(NULL, mn_json_write_finish(w));
        assert_int_equal(w->written, b.size);
        free(w);

        fixture f;
        open_bytes(&f, b.data, b.size);
        check_ok(f.ctx, mn_json_expect(&f.json, MN_JSON_ARRAY, "a"));
        for (int i = 0; i < 12; i++) {
            int64_t value;
            check_ok(f.ctx, mn_json_expect_int(&f.json, "i", &value));
            assert_true(value == integers[i]);
        }
        for (int i = 0; i < 2; i++) {
            check_ok(f.ctx, mn_json_expect_string(&f.json, "k", 99));
            assert_string_equal(f.json.string.data, "again");
        }
        uint8_t flags_back[sizeof flags];
        float reals_back[5];
        check_ok(f.ctx, mn_json_exact_numbers(&f.json, MN_JSON_U8, flags_back, sizeof flags, "f"));
        check_ok(f.ctx, mn_json_exact_numbers(&f.json, MN_JSON_F32, reals_back, 5, "r"));
        assert_memory_equal(flags, flags_back, sizeof flags);
        assert_memory_equal(reals, reals_back, sizeof reals);
        close_all(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_gives_its_values_in_order),
        cmocka_unit_test(text_that_is_not_json_is_refused),
        cmocka_unit_test(unicode_becomes_utf8),
        cmocka_unit_test(text_numbers_are_the_nearest_double),
        cmocka_unit_test(not_finite_numbers_are_read),
        cmocka_unit_test(half_floats_are_exact),
        cmocka_unit_test(binary_numbers_of_every_type_are_read),
        cmocka_unit_test(uniform_arrays_convert),
        cmocka_unit_test(numbers_outside_their_type_are_refused),
        cmocka_unit_test(tokens_are_defined_used_and_forgotten),
        cmocka_unit_test(binary_lies_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(long_things_are_refused),
        cmocka_unit_test(written_values_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
