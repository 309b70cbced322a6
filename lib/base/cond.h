// SPDX-License-Identifier: Apache-2.0
/*
 * cond - waiting on a condition variable with a deadline on CLOCK_MONOTONIC.
 *
 * The deadline is the clock of clock_monotonic_ns(), whatever clock the condition variable was
 * initialised with: pthread_cond_init(&cond, NULL) is enough.
 *
 *     while (!pool->free_count && cond_wait(&pool->released, &pool->lock, deadline_ns))
 *             ;
 */
#pragma once

#include "base/base.h"

#include <pthread.h>

/* Wait with `lock` held. False: the deadline has passed. True: the condition variable was signalled
 * or the wait ended by itself, so the caller checks its condition again. */
bool cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns);
