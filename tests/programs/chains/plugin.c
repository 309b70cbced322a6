// SPDX-License-Identifier: Apache-2.0
/*
 * plugin - one of two shared objects that are mapped at the same addresses in turns; see chains.c.
 *
 * Their frames differ in size (-DFRAME=), so rows of one file give wrong callers in the other.
 */
#include "chains.h"

#include <string.h>

static volatile char sink;

KEPT static void plugin_inner(void (*back)(void))
{
	volatile char bytes[FRAME];

	bytes[FRAME / 2] = sink;
	back();
	sink = bytes[FRAME / 2];
}

KEPT void plugin_enter(void (*back)(void))
{
	plugin_inner(back);
	sink++;
}
