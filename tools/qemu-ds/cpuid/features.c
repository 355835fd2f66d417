/* SPDX-License-Identifier: MIT */
/*
 * The features that QEMU 11.1 announces with `-cpu max` and TCG, and the first preset whose processor has each. The
 * presets are clients but for sapphirerapids, clearwaterforest, and icelake with kvm=on.
 *
 * Sources: what /proc/cpuinfo shows on such machines (of Lunar Lake, Arrow Lake-H and Panther Lake as published in
 * github.com/archspec/archspec-json/issues/161, llvm/llvm-project/issues/197241, erpalma/throttled/issues/401); for
 * servers QEMU's own models SapphireRapids, Icelake-Server and ClearwaterForest. SDM vol. 2A, "CPUID", for the bits of
 * 80000001H and 80000008H that Intel's processors have. Inferred: FSRS on the hybrids, PKS from Sapphire Rapids on.
 */
#include "tools/qemu-ds/cpuid/features.h"

#include "ds/generation.h"

enum { EAX, EBX, ECX, EDX };

/* Generations in the order of time, servers behind clients of the same. */
#define SINCE(generation)        (2u * DS_GENERATION_##generation)
#define SINCE_SERVER(generation) (SINCE(generation) + 1)

struct feature {
    uint32_t leaf;
    uint8_t subleaf, reg, bit;
    uint16_t since;
    uint16_t until; /* 0: still there */
};

static const struct feature features[] = {
    {1, 0, ECX, 1, SINCE(SANDYBRIDGE), 0},  /* PCLMULQDQ */
    {1, 0, ECX, 12, SINCE(HASWELL), 0},     /* FMA */
    {1, 0, ECX, 20, SINCE(NEHALEM), 0},     /* SSE4.2 */
    {1, 0, ECX, 21, SINCE(SANDYBRIDGE), 0}, /* x2APIC */
    {1, 0, ECX, 22, SINCE(HASWELL), 0},     /* MOVBE */
    {1, 0, ECX, 23, SINCE(NEHALEM), 0},     /* POPCNT */
    {1, 0, ECX, 25, SINCE(SANDYBRIDGE), 0}, /* AES */
    {1, 0, ECX, 26, SINCE(SANDYBRIDGE), 0}, /* XSAVE */
    {1, 0, ECX, 27, SINCE(SANDYBRIDGE), 0}, /* OSXSAVE */
    {1, 0, ECX, 28, SINCE(SANDYBRIDGE), 0}, /* AVX */
    {1, 0, ECX, 29, SINCE(HASWELL), 0},     /* F16C; Ivy Bridge, as the next */
    {1, 0, ECX, 30, SINCE(HASWELL), 0},     /* RDRAND */

    {7, 0, EBX, 0, SINCE(HASWELL), 0},               /* FSGSBASE */
    {7, 0, EBX, 3, SINCE(HASWELL), 0},               /* BMI1 */
    {7, 0, EBX, 5, SINCE(HASWELL), 0},               /* AVX2 */
    {7, 0, EBX, 7, SINCE(HASWELL), 0},               /* SMEP */
    {7, 0, EBX, 8, SINCE(HASWELL), 0},               /* BMI2 */
    {7, 0, EBX, 9, SINCE(HASWELL), 0},               /* ERMS */
    {7, 0, EBX, 14, SINCE(SKYLAKE), SINCE(ICELAKE)}, /* MPX */
    {7, 0, EBX, 18, SINCE(SKYLAKE), 0},              /* RDSEED; Broadwell, as the next two */
    {7, 0, EBX, 19, SINCE(SKYLAKE), 0},              /* ADX */
    {7, 0, EBX, 20, SINCE(SKYLAKE), 0},              /* SMAP */
    {7, 0, EBX, 23, SINCE(SKYLAKE), 0},              /* CLFLUSHOPT */
    {7, 0, EBX, 24, SINCE_SERVER(ICELAKE), 0},       /* CLWB */
    {7, 0, EBX, 29, SINCE(ICELAKE), 0},              /* SHA */
    {7, 0, ECX, 2, SINCE(ICELAKE), 0},               /* UMIP */
    {7, 0, ECX, 3, SINCE(ICELAKE), 0},               /* PKU */
    {7, 0, ECX, 4, SINCE(ICELAKE), 0},               /* OSPKE */
    {7, 0, ECX, 9, SINCE(ICELAKE), 0},               /* VAES */
    {7, 0, ECX, 22, SINCE(ICELAKE), 0},              /* RDPID */
    {7, 0, ECX, 31, SINCE(GOLDENCOVE), 0},           /* PKS */
    {7, 0, EDX, 4, SINCE(ICELAKE), 0},               /* FSRM */

    {7, 1, EAX, 7, SINCE(LIONCOVE), 0},                            /* CMPCCXADD */
    {7, 1, EAX, 10, SINCE_SERVER(GOLDENCOVE), SINCE(REDWOODCOVE)}, /* FZRM */
    {7, 1, EAX, 11, SINCE(GOLDENCOVE), 0},                         /* FSRS */
    {7, 1, EAX, 12, SINCE_SERVER(GOLDENCOVE), SINCE(REDWOODCOVE)}, /* FSRC */

    {0x0D, 1, EAX, 0, SINCE(SANDYBRIDGE), 0}, /* XSAVEOPT */
    {0x0D, 1, EAX, 2, SINCE(SKYLAKE), 0},     /* XGETBV with ECX = 1 */

    {0x80000001, 0, ECX, 5, SINCE(HASWELL), 0},  /* LZCNT */
    {0x80000001, 0, ECX, 8, SINCE(SKYLAKE), 0},  /* PREFETCHW; Broadwell */
    {0x80000001, 0, EDX, 26, SINCE(HASWELL), 0}, /* pages of 1 GiB */
    {0x80000001, 0, EDX, 27, SINCE(NEHALEM), 0}, /* RDTSCP */

    {0x80000008, 0, EBX, 9, SINCE_SERVER(ICELAKE), 0}, /* WBNOINVD */
};

#define INTEL_80000001_ECX UINT32_C(0x00000121) /* LAHF in 64-bit mode, LZCNT, PREFETCHW */
#define INTEL_80000001_EDX UINT32_C(0x2C100800) /* SYSCALL, NX, pages of 1 GiB, RDTSCP, 64-bit mode */
#define INTEL_80000008_EBX UINT32_C(0x00000200) /* WBNOINVD */
#define INTEL_LAST         UINT32_C(0x80000008)
#define LEAF_7_ECX_LA57    (1u << 16)
#define LINEAR_BITS        UINT32_C(0x0000FF00) /* of 80000008H:EAX */

bool qds_features_in(uint32_t leaf, uint32_t subleaf)
{
    return leaf == 1 || (leaf == 7 && subleaf <= 1) || (leaf == 0x0D && subleaf == 1) || leaf == 0x80000000 ||
           leaf == 0x80000001 || leaf == INTEL_LAST;
}

void qds_features_mask(const struct ds_model_preset *preset, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    /* Efficient cores have the features of the cores beside them. */
    const unsigned now = 2u * preset->generation + (preset->la57 ? 1 : 0);
    if (leaf == 0x80000001) {
        out[ECX] &= INTEL_80000001_ECX;
        out[EDX] &= INTEL_80000001_EDX;
    } else if (leaf == INTEL_LAST) {
        out[EBX] &= INTEL_80000008_EBX;
        if (!preset->la57)
            out[EAX] = (out[EAX] & ~LINEAR_BITS) | 48u << 8;
    } else if (leaf == 0x80000000 && out[EAX] > INTEL_LAST) {
        out[EAX] = INTEL_LAST;
    } else if (leaf == 7 && subleaf == 0 && !preset->la57) {
        out[ECX] &= ~LEAF_7_ECX_LA57;
    }
    for (const struct feature *f = features; f < features + sizeof features / sizeof features[0]; f++)
        if (f->leaf == leaf && (f->subleaf == subleaf || leaf == 1 || leaf >= 0x80000000) &&
            (now < f->since || (f->until && now >= f->until)))
            out[f->reg] &= ~(1u << f->bit);
}
