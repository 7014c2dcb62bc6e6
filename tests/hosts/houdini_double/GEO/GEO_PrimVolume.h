// SPDX-License-Identifier: Apache-2.0
//
// Part of the double; see double.h.
#include "../double.h"
