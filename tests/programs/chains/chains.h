// SPDX-License-Identifier: Apache-2.0
/*
 * chains - shared by the programs of a chain: functions that are never inlined.
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

/* The entry of a plugin: calls back through plugin_inner(). */
void plugin_enter(void (*back)(void));
