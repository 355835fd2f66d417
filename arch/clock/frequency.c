/* SPDX-License-Identifier: MIT */
#include "arch/clock/frequency.h"

static struct arch_interval widened(struct arch_interval in)
{
    uint64_t middle = in.low + (in.high - in.low) / 2;
    uint64_t slack = middle / 1000000 * ARCH_CLOCK_PPM;

    if (in.low > middle - slack)
        in.low = middle - slack;
    if (in.high < middle + slack)
        in.high = middle + slack;
    return in;
}

uint64_t arch_roundest(struct arch_interval in)
{
    uint64_t middle = in.low + (in.high - in.low) / 2;

    in = widened(in);
    for (uint64_t unit = UINT64_C(1000000000); unit > 1; unit /= 10) {
        uint64_t nearest = (middle + unit / 2) / unit * unit;
        if (nearest >= in.low && nearest <= in.high)
            return nearest;
    }
    return middle;
}

uint64_t arch_by_crystal(uint32_t numerator, uint32_t denominator, struct arch_interval measured)
{
    /* SDM vol. 3, "Nominal Core Crystal Clock Frequency"; 38.4 MHz: what later processors say in CPUID 15H:ECX. */
    static const uint32_t crystals[] = {24000000, 25000000, 19200000, 38400000};

    measured = widened(measured);
    for (unsigned i = 0; i < sizeof(crystals) / sizeof(crystals[0]); i++) {
        uint64_t hz = (uint64_t)crystals[i] * numerator / denominator;
        if (hz >= measured.low && hz <= measured.high)
            return hz;
    }
    return 0;
}
