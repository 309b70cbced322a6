// SPDX-License-Identifier: Apache-2.0
/*
 * chains - what a chain's programs share: functions that stay functions.
 */
#pragma once

#include <stdbool.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

#define CHAINS_PLUGIN_A "chains_plugin_a.so"
#define CHAINS_PLUGIN_B "chains_plugin_b.so"

/* What a plugin has: calls back by way of plugin_inner(). */
void plugin_enter(void (*back)(void));
