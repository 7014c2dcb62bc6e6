// SPDX-License-Identifier: Apache-2.0
//
// Part of the stand-in; see tbb_2020.h.
#include "tbb_2020.h"
