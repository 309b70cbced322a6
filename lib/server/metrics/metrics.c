// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metrics.h"

#include "base/clock.h"
#include "server/limits.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

const uint64_t metric_seconds_bounds[METRIC_SECONDS_BOUNDS] = {
	1 * NS_PER_MS,      5 * NS_PER_MS,      10 * NS_PER_MS,    25 * NS_PER_MS,
	50 * NS_PER_MS,     100 * NS_PER_MS,    250 * NS_PER_MS,   500 * NS_PER_MS,
	NS_PER_SECOND,      2500 * NS_PER_MS,   5 * NS_PER_SECOND, 10 * NS_PER_SECOND,
	30 * NS_PER_SECOND, 60 * NS_PER_SECOND,
};

/* Written before the server starts, then only read. */
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

void metrics_register(struct metric *const *metrics)
{
	if (start_unix_ns == 0)
		start_unix_ns = clock_unix_ns();
	for (; *metrics; metrics++) {
		if (is_registered(*metrics))
			continue;
		assert(registry_len < METRICS_MAX);
		assert((*metrics)->pairs || (*metrics)->value_count <= METRIC_VALUES_MAX);
		assert((*metrics)->bound_count + 2 <= METRIC_VALUES_MAX);
		registry[registry_len++] = *metrics;
	}
}

const struct metric *metrics_at(size_t index)
{
	return index < registry_len ? registry[index] : NULL;
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
	const struct metric_numbers *numbers = metric->numbered;

	if (number < numbers->count)
		atomic_store_explicit(&numbers->cells[number], cell, memory_order_relaxed);
}

void metric_set_number(struct metric *metric, size_t number, uint64_t n)
{
	set_cell(metric, number, n < INT64_MAX ? (int64_t)n + 1 : INT64_MAX);
}

void metric_clear_number(struct metric *metric, size_t number)
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

static const char *const kind_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

static void write_head(struct buf *out, const char *name, const char *help, enum metric_kind kind)
{
	buf_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind_names[kind]);
}

/* Write a counted number in the exported unit. */
static void write_number(struct buf *out, const struct metric *metric, int64_t number)
{
	if (metric->unit > 1)
		buf_format(out, "%.9g", (double)number / (double)metric->unit);
	else
		buf_format(out, "%jd", (intmax_t)number);
}

static void write_value(struct buf *out, const struct metric *metric, int64_t number)
{
	buf_str(out, STR(" "));
	write_number(out, metric, number);
	buf_str(out, STR("\n"));
}

/* Other threads may update the buckets meanwhile; the count is always equal to the +Inf bucket. */
static void write_histogram(struct buf *out, const struct metric *metric)
{
	int64_t count = 0;

	for (size_t i = 0; i < metric->bound_count; i++) {
		count += metric_get_at(metric, i);
		buf_format(out, "%s_bucket{le=\"", metric->name);
		write_number(out, metric, (int64_t)metric->bounds[i]);
		buf_format(out, "\"} %jd\n", (intmax_t)count);
	}
	count += metric_get_at(metric, metric->bound_count);
	buf_format(out, "%s_bucket{le=\"+Inf\"} %jd\n%s_sum", metric->name, (intmax_t)count,
		   metric->name);
	write_value(out, metric, metric_get_at(metric, metric->bound_count + 1));
	buf_format(out, "%s_count %jd\n", metric->name, (intmax_t)count);
}

static void write_pairs(struct buf *out, const struct metric *metric)
{
	const struct metric_pairs *pairs = metric->pairs;

	for (size_t i = 0; i < metric->value_count; i++) {
		for (size_t j = 0; j < pairs->value_count; j++) {
			int64_t number = atomic_load_explicit(
				&pairs->cells[i * pairs->value_count + j], memory_order_relaxed);

			if (number == 0)
				continue;
			buf_format(out, "%s{%s=\"%s\",%s=\"%s\"}", metric->name, metric->label,
				   metric->values[i], pairs->label, pairs->values[j]);
			write_value(out, metric, number);
		}
	}
}

static void write_numbers(struct buf *out, const struct metric *metric)
{
	const struct metric_numbers *numbers = metric->numbered;

	for (size_t i = 0; i < numbers->count; i++) {
		int64_t cell = atomic_load_explicit(&numbers->cells[i], memory_order_relaxed);

		if (cell == 0)
			continue;
		buf_format(out, "%s{%s=\"%zu\"}", metric->name, metric->label, i);
		write_value(out, metric, cell - 1);
	}
}

static void write_metric(struct buf *out, const struct metric *metric)
{
	write_head(out, metric->name, metric->help, metric->kind);
	if (metric->kind == METRIC_HISTOGRAM) {
		write_histogram(out, metric);
	} else if (metric->pairs) {
		write_pairs(out, metric);
	} else if (metric->numbered) {
		write_numbers(out, metric);
	} else if (!metric->label) {
		buf_format(out, "%s", metric->name);
		write_value(out, metric,
			    metric->read ? (int64_t)metric->read() : metric_get(metric));
	} else {
		for (size_t i = 0; i < metric->value_count; i++) {
			buf_format(out, "%s{%s=\"%s\"}", metric->name, metric->label,
				   metric->values[i]);
			write_value(out, metric, metric_get_at(metric, i));
		}
	}
}

static uint64_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!dir)
		return 0;
	while (readdir(dir)) /* NOLINT(concurrency-mt-unsafe): a stream of this function only */
		count++;
	closedir(dir);
	return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

static uint64_t resident_bytes(void)
{
	char text[128];
	AUTO_FD fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t pages;

	if (len <= 0)
		return 0;

	str rest = { text, (size_t)len };

	str_cut(&rest, ' ');
	return str_to_u64(str_cut(&rest, ' '), &pages) ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
						       : 0;
}

/* The names that all Prometheus client libraries use. */
static void write_process(struct buf *out)
{
	struct rlimit files = { 0 };

	write_head(out, "process_cpu_seconds_total", "CPU time of this process, user and system.",
		   METRIC_COUNTER);
	buf_format(out, "process_cpu_seconds_total %.3f\n", (double)clock_cpu_ns() / 1e9);
	write_head(out, "process_resident_memory_bytes", "Resident memory of this process.",
		   METRIC_GAUGE);
	buf_format(out, "process_resident_memory_bytes %ju\n", (uintmax_t)resident_bytes());
	write_head(out, "process_start_time_seconds", "Start time of this process, Unix time.",
		   METRIC_GAUGE);
	buf_format(out, "process_start_time_seconds %.3f\n", (double)start_unix_ns / 1e9);
	write_head(out, "process_open_fds", "Open file descriptors.", METRIC_GAUGE);
	buf_format(out, "process_open_fds %ju\n", (uintmax_t)open_files());
	getrlimit(RLIMIT_NOFILE, &files);
	write_head(out, "process_max_fds", "Limit on open file descriptors.", METRIC_GAUGE);
	buf_format(out, "process_max_fds %ju\n", (uintmax_t)files.rlim_cur);
	write_head(out, "decima_build_info", "1, with the version as its label.", METRIC_GAUGE);
	buf_format(out, "decima_build_info{version=\"%s\"} 1\n", DECIMA_VERSION);
}

void metrics_write(struct buf *out)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metrics_at(i)); i++)
		write_metric(out, metric);
	write_process(out);
}

/* The labels, with their values if there is one label with known values. */
static void print_labels(const struct metric *metric)
{
	if (metric->label)
		printf("`%s`", metric->label);
	if (metric->pairs)
		printf(", `%s`", metric->pairs->label);
	for (size_t i = 0; metric->label && !metric->pairs && i < metric->value_count; i++)
		printf("%s %s", i ? "," : ":", metric->values[i]);
}

void metrics_print_markdown(const char *title)
{
	const struct metric *metric;

	printf("## %s\n\n| metric | type | labels | description |\n|---|---|---|---|\n", title);
	for (size_t i = 0; (metric = metrics_at(i)); i++) {
		printf("| `%s` | %s | ", metric->name, kind_names[metric->kind]);
		print_labels(metric);
		printf(" | %s |\n", metric->help);
	}
}
