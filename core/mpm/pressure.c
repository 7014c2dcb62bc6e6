// SPDX-License-Identifier: Apache-2.0
//
// The bulk modulus that keeps a flow nearly incompressible:
//
//   K = (p_capillary + rho |g| H + rho U^2) / compression
//
// The sound speed sqrt(K/rho) then is 1/sqrt(compression) times the fastest capillary, gravity and flow
// speed.
#include "mpm/pressure.h"

double mn_pressure_bulk_modulus(mn_pressure_scales s, double compression)
{
    const double hydrostatic = s.density * s.gravity * s.height;
    const double stagnation = s.density * s.speed * s.speed;
    return (s.capillary + hydrostatic + stagnation) / compression;
}
