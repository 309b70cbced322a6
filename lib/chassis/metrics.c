#include "metrics.h"

#include "base/clock.h"
#include "chassis/limits.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>

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
		assert(metrics[i]->value_count <= METRIC_VALUES_MAX);
		registry[registry_len++] = metrics[i];
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

void metric_set(struct metric *metric, int64_t n)
{
	metric_set_at(metric, 0, n);
}

void metric_set_at(struct metric *metric, size_t value, int64_t n)
{
	assert(value < METRIC_VALUES_MAX);
	atomic_store_explicit(&metric->numbers[value], n, memory_order_relaxed);
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

static void write_head(struct buf *out, const char *name, const char *help, enum metric_kind kind)
{
	buf_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
		   kind == METRIC_COUNTER ? "counter" : "gauge");
}

static void write_metric(struct buf *out, const struct metric *metric)
{
	write_head(out, metric->name, metric->help, metric->kind);
	if (!metric->label) {
		buf_format(out, "%s %jd\n", metric->name, (intmax_t)metric_get(metric));
		return;
	}
	for (size_t i = 0; i < metric->value_count; i++)
		buf_format(out, "%s{%s=\"%s\"} %jd\n", metric->name, metric->label,
			   metric->values[i], (intmax_t)metric_get_at(metric, i));
}

static uint64_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!dir)
		return 0;
	while (readdir(dir)) /* NOLINT(concurrency-mt-unsafe): the stream is this function's own */
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

/* The names are those that every client library of Prometheus uses. */
static void write_process(struct buf *out)
{
	struct rlimit files = { 0 };

	write_head(out, "process_cpu_seconds_total", "CPU time of this process, user and system.",
		   METRIC_COUNTER);
	buf_format(out, "process_cpu_seconds_total %.3f\n", (double)clock_cpu_ns() / 1e9);
	write_head(out, "process_resident_memory_bytes", "Memory in RAM.", METRIC_GAUGE);
	buf_format(out, "process_resident_memory_bytes %ju\n", (uintmax_t)resident_bytes());
	write_head(out, "process_start_time_seconds", "When this process started, Unix time.",
		   METRIC_GAUGE);
	buf_format(out, "process_start_time_seconds %.3f\n", (double)start_unix_ns / 1e9);
	write_head(out, "process_open_fds", "Open file descriptors.", METRIC_GAUGE);
	buf_format(out, "process_open_fds %ju\n", (uintmax_t)open_files());
	getrlimit(RLIMIT_NOFILE, &files);
	write_head(out, "process_max_fds", "Most file descriptors that may be open.", METRIC_GAUGE);
	buf_format(out, "process_max_fds %ju\n", (uintmax_t)files.rlim_cur);
	write_head(out, "decima_build_info", "1, with the version as its label.", METRIC_GAUGE);
	buf_format(out, "decima_build_info{version=\"%s\"} 1\n", DECIMA_VERSION);
}

void metrics_write(struct buf *out)
{
	for (size_t i = 0; i < registry_len; i++)
		write_metric(out, registry[i]);
	write_process(out);
}
