// SPDX-License-Identifier: Apache-2.0
//
// Notices energy that comes from nowhere.
#ifndef MENISCUS_BASE_ENERGY_WATCH_H
#define MENISCUS_BASE_ENERGY_WATCH_H

#include "meniscus/solver.h"

/// After an advance. books->driven: something may have done work, so the watch begins anew, as it does when
/// the mass has changed. MN_ERROR_DIVERGED with a sentence when there is far more energy than there was; a
/// warning to the log, once, when it rises.
mn_status mn_energy_watch_look(mn_context *ctx, mn_energy_watch *watch, const mn_report *report,
                               mn_vec3 gravity, const mn_energy_books *books);
/// J that gas of `amount` (pressure times volume) has at this pressure more than at that of the air around.
double mn_gas_energy(double amount, double pressure, double ambient);

#endif
