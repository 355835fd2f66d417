/* SPDX-License-Identifier: MIT */
/* Error numbers, returned negative. The values are those of POSIX systems; the names are used on the host as well. */
#pragma once

#if __STDC_HOSTED__
#include <errno.h>
#else
enum {
    EPERM = 1,
    ENOENT = 2,
    EIO = 5,
    ENXIO = 6,
    E2BIG = 7,
    EAGAIN = 11,
    ENOMEM = 12,
    EFAULT = 14,
    EBUSY = 16,
    EEXIST = 17,
    ENODEV = 19,
    EINVAL = 22,
    ENOSPC = 28,
    ERANGE = 34,
    ENOSYS = 38,
    EOVERFLOW = 75,
    ENOTSUP = 95,
    ETIMEDOUT = 110,
};
#endif
