// SPDX-License-Identifier: Apache-2.0
//
// The floating-point mode that the core computes in: round to nearest, no flushing of denormals, no traps.
// Hosts may have set another, for their own code or by accident; with it the core would give other bits, or a
// trap would end the host.
//
//   const mn_float_mode host = mn_float_mode_set();
//   ...
//   mn_float_mode_restore(host);
//
// On x86-64 that is the MXCSR register alone: nothing here computes in the x87 unit.
#ifndef MENISCUS_BASE_FLOAT_MODE_H
#define MENISCUS_BASE_FLOAT_MODE_H

#if defined(__x86_64__)

typedef unsigned mn_float_mode;

/// Sets ours; gives the one before.
static inline mn_float_mode mn_float_mode_set(void)
{
    const unsigned before = __builtin_ia32_stmxcsr(), ours = 0x1f80;
    if ((before & ~0x3fu) != ours) __builtin_ia32_ldmxcsr(ours);
    return before;
}

static inline void mn_float_mode_restore(mn_float_mode mode)
{
    if ((mode & ~0x3fu) != 0x1f80) __builtin_ia32_ldmxcsr(mode);
}

#else

#include <fenv.h>

typedef fenv_t mn_float_mode;

static inline mn_float_mode mn_float_mode_set(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void mn_float_mode_restore(mn_float_mode mode)
{
    fesetenv(&mode);
}

#endif

#endif
