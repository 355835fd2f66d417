/* SPDX-License-Identifier: MIT */
/* Ways to break the kernel, to see what it does then. */
#pragma once

#include <stdint.h>

enum kfaults { KFAULTS_NONE, KFAULTS_NOW, KFAULTS_NULL, KFAULTS_STACK, KFAULTS_DOUBLE };
extern uint32_t kfaults_way; /* option panic=: enum kfaults */
