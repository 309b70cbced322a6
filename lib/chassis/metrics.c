// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include "base/clock.h"
#include "chassis/limits.h"
#include "chassis/metrics_parts.h"

#include <assert.h>
#include <stdatomic.h>

const uint64_t metric_seconds_bounds[METRIC_SECONDS_BOUNDS] = {
	1 * NS_PER_MS,      5 * NS_PER_MS,      10 * NS_PER_MS,    25 * NS_PER_MS,
	50 * NS_PER_MS,     100 * NS_PER_MS,    250 * NS_PER_MS,   500 * NS_PER_MS,
	NS_PER_SECOND,      2500 * NS_PER_MS,   5 * NS_PER_SECOND, 10 * NS_PER_SECOND,
	30 * NS_PER_SECOND, 60 * NS_PER_SECOND,
};

/* Written before the server starts, only read afterwards. */
static struct metric *registry[METRICS_MAX];
static size_t registry_len;
static uint64_t start_unix_ns;

static bool is_registered(const struct metric *metric)
{
	for (size_t i = 0; i < registry_len; i++)
		if (registry[i] == metric)
			return true;
	return false;
}

void metrics_register(struct metric *const *metrics, size_t count)
{
	if (start_unix_ns == 0)
		start_unix_ns = clock_unix_ns();
	for (size_t i = 0; i < count; i++) {
		if (is_registered(metrics[i]))
			continue;
		assert(registry_len < METRICS_MAX);
		assert(metrics[i]->pairs || metrics[i]->value_count <= METRIC_VALUES_MAX);
		assert(metrics[i]->bound_count + 2 <= METRIC_VALUES_MAX);
		registry[registry_len++] = metrics[i];
	}
}

const struct metric *metrics_at(size_t index)
{
	return index < registry_len ? registry[index] : NULL;
}

uint64_t metrics_start_unix_ns(void)
{
	return start_unix_ns;
}

void metric_add(struct metric *metric, uint64_t n)
{
	metric_add_at(metric, 0, n);
}

void metric_add_at(struct metric *metric, size_t value, uint64_t n)
{
	assert(value < METRIC_VALUES_MAX);
	atomic_fetch_add_explicit(&metric->numbers[value], (int64_t)n, memory_order_relaxed);
}

void metric_add_pair(struct metric *metric, size_t value, size_t of_second, uint64_t n)
{
	const struct metric_pairs *pairs = metric->pairs;

	assert(value < metric->value_count && of_second < pairs->value_count);
	atomic_fetch_add_explicit(&pairs->cells[value * pairs->value_count + of_second], (int64_t)n,
				  memory_order_relaxed);
}

void metric_observe(struct metric *metric, uint64_t n)
{
	size_t bucket = 0;

	while (bucket < metric->bound_count && n > metric->bounds[bucket])
		bucket++;
	metric_add_at(metric, bucket, 1);
	metric_add_at(metric, metric->bound_count + 1, n);
}

void metric_set(struct metric *metric, int64_t n)
{
	metric_set_at(metric, 0, n);
}

void metric_set_at(struct metric *metric, size_t value, int64_t n)
{
	assert(value < METRIC_VALUES_MAX);
	atomic_store_explicit(&metric->numbers[value], n, memory_order_relaxed);
}

static void set_cell(const struct metric *metric, size_t number, int64_t cell)
{
	const struct metric_numbers *numbers = metric->numbers_of;

	if (number < numbers->count)
		atomic_store_explicit(&numbers->cells[number], cell, memory_order_relaxed);
}

void metric_set_number(struct metric *metric, size_t number, uint64_t n)
{
	set_cell(metric, number, n < INT64_MAX ? (int64_t)n + 1 : INT64_MAX);
}

void metric_drop_number(struct metric *metric, size_t number)
{
	set_cell(metric, number, 0);
}

int64_t metric_get(const struct metric *metric)
{
	return metric_get_at(metric, 0);
}

int64_t metric_get_at(const struct metric *metric, size_t value)
{
	assert(value < METRIC_VALUES_MAX);
	return atomic_load_explicit(&metric->numbers[value], memory_order_relaxed);
}
