// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text and back, whatever the host's locale says about decimal points.
#ifndef MENISCUS_PLUGIN_HOST_NUMBER_TEXT_H
#define MENISCUS_PLUGIN_HOST_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room for any number, with its zero.
enum { MN_NUMBER_TEXT = 32 };
/// Characters of the longest number that is read.
enum { MN_NUMBER_LONGEST = 400 };

/// The shortest text that reads back as the same double.
void mn_number_to_text(double value, char text[MN_NUMBER_TEXT]);
/// A JSON number that fills the whole text; false when it is none. Too large ones become infinite.
bool mn_number_from_text(const char *text, size_t size, double *value);
/// "1 2 3" or "1,2,3" or "1, 2, 3"; false when that is not what it is, or when there are more than
/// `capacity`.
bool mn_numbers_from_text(const char *text, int32_t capacity, double *numbers, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
