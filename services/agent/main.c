// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent - samples every process of this host and sends what it saw on its way.
 *
 * One thread samples, names and writes batches to the spool; a second one (publish) moves them from
 * there to Kafka, whenever Kafka is there. With --local-store-directory there is neither spool nor
 * Kafka, but files.
 */
#include "agent_limits.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "batch.h"
#include "chassis/daemon.h"
#include "chassis/metrics.h"
#include "counts.h"
#include "docker.h"
#include "external_labels.h"
#include "host.h"
#include "kernel_check.h"
#include "local_store.h"
#include "profiler.h"
#include "profiler_metrics.h"
#include "publish.h"
#include "upload.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>

enum { MMAP_THRESHOLD = 128 << 10 };

struct settings {
	struct daemon_settings daemon;
	const char *node, *brokers, *topic, *state_directory, *bpffs_directory, *external_labels,
		*local_store, *failpoints, *debuginfo_url, *debuginfo_token_file, *docker_socket;
	uint64_t spool_max_bytes, spool_max_rate, hz, duration_ns, debuginfo_timeout_ns,
		debuginfo_held_max_bytes, unwind_max_bytes, unwind_cache_max_bytes;
	bool allow_unsafe_kernel;
};

static struct settings settings;

#define FIELD(name) offsetof(struct settings, name)

static const struct conf_key keys[] = {
	DAEMON_KEYS(struct settings, daemon, "127.0.0.1:7071"),
	{ "node", CONF_STR, FIELD(node), .fallback = "",
	  .help = "Name of this host, the label node; by default its host name." },
	{ "profiling-duration", CONF_DURATION, FIELD(duration_ns), .fallback = "10s",
	  .min = NS_PER_SECOND, .max = 600 * NS_PER_SECOND,
	  .help = "Time that one batch of samples covers." },
	{ "profiling-cpu-sampling-frequency", CONF_U64, FIELD(hz), .fallback = "19", .min = 1,
	  .max = 1000, .help = "Samples per second and CPU; a prime keeps out of step." },
	{ "metadata-external-labels", CONF_STR, FIELD(external_labels), .fallback = "",
	  .help = "Labels of all samples of this host: name=value, separated by , or ;." },
	{ "kafka-brokers", CONF_STR, FIELD(brokers), .fallback = "127.0.0.1:9092",
	  .help = "Kafka bootstrap servers, separated by commas." },
	{ "kafka-topic", CONF_STR, FIELD(topic), .fallback = PUBLISH_TOPIC,
	  .help = "Topic that batches are sent to." },
	{ "state-directory", CONF_STR, FIELD(state_directory), .fallback = "/var/lib/decima-agent",
	  .help = "Directory of the spool; one agent at a time." },
	{ "bpffs-directory", CONF_STR, FIELD(bpffs_directory), .fallback = "/sys/fs/bpf",
	  .help = "Where counts outlive the agent, so that a successor can tell what one that was "
		  "killed had not sent; a BPF file system is mounted there if there is none." },
	{ "spool-max-bytes", CONF_BYTES, FIELD(spool_max_bytes), .fallback = "1GB", .min = 4 << 20,
	  .help = "Disk space for batches that Kafka does not have yet; beyond, the oldest go." },
	{ "spool-max-rate", CONF_BYTES, FIELD(spool_max_rate), .fallback = "256KB", .min = 1 << 10,
	  .help = "Bytes per second of the spool, before compression, that go to Kafka at most; "
		  "but always twice what comes in." },
	{ "local-store-directory", CONF_STR, FIELD(local_store), .fallback = "",
	  .help = "Write pprof files into this directory and send nothing; needs no server." },
	{ "debuginfo-url", CONF_STR, FIELD(debuginfo_url), .fallback = "",
	  .help = "Debuginfo service that the debug info of what runs here is uploaded to, each "
		  "build once, http://HOST:8002; empty: none is." },
	{ "debuginfo-token-file", CONF_STR, FIELD(debuginfo_token_file), .fallback = "",
	  .help = "File with the token that the service wants; binaries without a build id can be "
		  "uploaded with one only." },
	{ "debuginfo-upload-timeout", CONF_DURATION, FIELD(debuginfo_timeout_ns), .fallback = "15m",
	  .min = NS_PER_SECOND, .max = 24 * 3600 * NS_PER_SECOND,
	  .help = "Time that one upload may take." },
	{ "debuginfo-held-max-bytes", CONF_BYTES, FIELD(debuginfo_held_max_bytes),
	  .fallback = "256MB",
	  .help = "Disk space of deleted files that are kept open until their debug info is "
		  "uploaded; beyond, the newest go without." },
	{ "allow-unsafe-kernel", CONF_BOOL, FIELD(allow_unsafe_kernel), .fallback = "false",
	  .help = "Run on a kernel that is older than 5.10, or that may freeze when BPF reads the "
		  "memory of a process: 5.19 to 6.1.35, 6.2 to 6.3.9." },
	{ "unwind-table-max-bytes", CONF_BYTES, FIELD(unwind_max_bytes), .fallback = "256MB",
	  .min = 1 << 20, .max = 2ULL << 30,
	  .help = "Kernel memory for what stacks are unwound with; beyond, what was sampled the "
		  "longest time ago gives way." },
	{ "unwind-cache-max-bytes", CONF_BYTES, FIELD(unwind_cache_max_bytes), .fallback = "512MB",
	  .help = "Disk space below the state directory for unwind tables, so that they are built "
		  "once; beyond, the least recently used go." },
	{ "docker-socket", CONF_STR, FIELD(docker_socket), .fallback = "/var/run/docker.sock",
	  .help = "Socket of Docker or Podman, which is asked what containers are called; where "
		  "there is none they have ids alone. Empty: nobody is asked." },
	{ "failpoints", CONF_STR, FIELD(failpoints), .fallback = "",
	  .help = "For tests: kill or stop this process at named places, NAME=kill|stop[:VISIT], "
		  "separated by commas; docs/failpoints.md names them." },
};

/* What an interval's samples go to: files, or the spool and from there Kafka. */
struct outlet {
	struct local_store files;
	struct spool spool;
	struct counts counts;
	struct batch_writer writer;
	struct publish publish;
	bool local;
};

/* What predecessors counted and did not spool. Nobody loses a sample where it cannot be known. */
static void outlet_book(struct outlet *outlet, const struct settings *given)
{
	struct counts_options options = { .bpffs_directory = given->bpffs_directory,
					  .state_directory = given->state_directory,
					  .epoch = outlet->spool.epoch };
	struct err err;

	options.is_reported_known = batch_writer_told(&outlet->writer, &options.reported);
	if (counts_open(&outlet->counts, &options, &err))
		batch_writer_book(&outlet->writer, &outlet->counts.unreported);
	else
		log_warn("counts are not pinned: what a killed agent held cannot be known",
			 "error=\"%s\"", err.msg);
}

static bool outlet_open(struct outlet *outlet, const struct settings *given, const char *node,
			struct err *err)
{
	outlet->local = given->local_store[0];
	if (outlet->local)
		return local_store_open(&outlet->files, given->local_store, err);

	struct spool_options spool = { .state_directory = given->state_directory,
				       .node = node,
				       .max_bytes = given->spool_max_bytes };
	struct publish_options publish = { .brokers = given->brokers,
					   .topic = given->topic,
					   .max_rate = given->spool_max_rate };

	if (!spool_open(&outlet->spool, &spool, err))
		return false;
	batch_writer_init(&outlet->writer, &outlet->spool,
			  &(struct batch_options){
				  .node = node, .hz = given->hz, .counts = &outlet->counts });
	outlet_book(outlet, given);
	return publish_start(&outlet->publish, &outlet->spool, &publish, err);
}

static void outlet_write(struct outlet *outlet, struct profiler *profiler, uint64_t start_ms)
{
	const struct sample_set *set = &profiler->collect.set;
	struct profiler_counts counts = profiler_counts_get(profiler);
	struct err err;

	if (!outlet->local)
		batch_write(&outlet->writer, set, &counts);
	else if (!local_store_write(&outlet->files, set, start_ms, clock_unix_ns() / NS_PER_MS,
				    &err))
		log_error("samples lost: the local store cannot be written",
			  "samples=%zu error=\"%s\"", set->samples.len, err.msg);
}

/* Give the publisher a moment for what is spooled; the rest stays for the next start. */
static void outlet_close(struct outlet *outlet)
{
	if (outlet->local) {
		local_store_close(&outlet->files);
		return;
	}

	uint64_t end_ms = clock_monotonic_ns() / NS_PER_MS + STOP_GRACE_MS, now_ms;

	while ((now_ms = clock_monotonic_ns() / NS_PER_MS) < end_ms && outlet->publish.running &&
	       spool_level_get(&outlet->spool).batches)
		clock_sleep_ms(STOP_STEP_MS);
	publish_stop(&outlet->publish, now_ms < end_ms ? end_ms - now_ms : 0);
	batch_writer_done(&outlet->writer);
	counts_close(&outlet->counts);
	spool_close(&outlet->spool);
}

static void end_interval(struct profiler *profiler, struct outlet *outlet, uint64_t start_ms)
{
	log_debug("interval ended", "samples=%zu stacks=%zu", profiler->collect.set.samples.len,
		  profiler->collect.set.stacks.len);
	outlet_write(outlet, profiler, start_ms);
	profiler_metrics_update(profiler);
}

static void work(struct profiler *profiler, struct outlet *outlet, uint64_t duration_ns)
{
	uint64_t start_ms = clock_unix_ns() / NS_PER_MS;
	uint64_t next_ns = clock_monotonic_ns() + duration_ns;

	while (daemon_wait(profiler_pause_ms(profiler))) {
		profiler_drain(profiler);
		if (clock_monotonic_ns() < next_ns)
			continue;
		end_interval(profiler, outlet, start_ms);
		profiler_next_interval(profiler);
		malloc_trim(0);
		start_ms = clock_unix_ns() / NS_PER_MS;
		next_ns += duration_ns;
		if (next_ns < clock_monotonic_ns()) /* a disk that stood still, a machine asleep */
			next_ns = clock_monotonic_ns() + duration_ns;
	}
	profiler_finish(profiler);
	end_interval(profiler, outlet, start_ms);
}

static bool sample(const struct settings *given, const struct profiler_options *options,
		   struct outlet *outlet, atomic_bool *is_sampling, struct err *err)
{
	static struct profiler profiler;

	if (!profiler_open(&profiler, options, err))
		return err_wrap(err, "begin to sample");
	log_info("sampling", "hz=%" PRIu64 " processes=%zu kernel_symbols=%zu", options->hz,
		 profiler.processes.count, profiler.kernel.count);
	atomic_store(is_sampling, true);
	work(&profiler, outlet, given->duration_ns);
	profiler_close(&profiler);
	return true;
}

static bool is_ready(void *is_sampling, struct err *why)
{
	return atomic_load((atomic_bool *)is_sampling) || err_set(why, ERR_IO, "not sampling yet");
}

static bool upload_room(void *self)
{
	return upload_has_room(self);
}

static bool upload_plenty(void *self)
{
	return upload_has_plenty(self);
}

static bool upload_executable(void *self, struct executable *executable,
			      const struct executable_claim *claim, int fd)
{
	struct upload_file file = { .build_id = executable->build_id,
				    .path = claim->path,
				    .pids = { claim->pid, claim->parent_pid } };

	return upload_offer(self, &file, fd);
}

static bool upload_open(struct upload *upload, const struct settings *given,
			struct profiler_options *profiler, struct err *err)
{
	const struct upload_options options = { .url = given->debuginfo_url,
						.token_file = given->debuginfo_token_file,
						.timeout_ns = given->debuginfo_timeout_ns,
						.held_max_bytes = given->debuginfo_held_max_bytes };

	if (!upload_start(upload, &options, err))
		return false;
	if (upload->running)
		profiler->executables = (struct executable_sink){ .has_room = upload_room,
								  .has_plenty = upload_plenty,
								  .offer = upload_executable,
								  .self = upload };
	return true;
}

static void register_metrics(void)
{
	metrics_register(profiler_metrics, profiler_metric_count);
	metrics_register(batch_metrics, batch_metric_count);
	metrics_register(publish_metrics, publish_metric_count);
	metrics_register(local_store_metrics, local_store_metric_count);
	metrics_register(upload_metrics, upload_metric_count);
	metrics_register(unwind_loader_metrics, unwind_loader_metric_count);
	metrics_register(unwind_builder_metrics, unwind_builder_metric_count);
	metrics_register(docker_metrics, DOCKER_METRICS);
}

static bool run(void *self, struct err *err)
{
	static struct outlet outlet;
	static struct upload upload;
	static struct docker docker;
	const struct settings *given = self;
	AUTO_ARENA arena = { 0 };
	str node = given->node[0] ? str_from(given->node) : host_name(&arena);
	struct profiler_options options = { .hz = given->hz,
					    .node = node,
					    .counts = &outlet.counts,
					    .unwind_max_bytes = given->unwind_max_bytes,
					    .unwind = { .cache_max_bytes =
								given->unwind_cache_max_bytes },
					    .containers = &docker.containers };
	atomic_bool is_sampling = false;
	struct daemon_service service = { .self = &is_sampling, .ready = is_ready };
	struct daemon_server server = { 0 };

	if (!given->local_store[0])
		options.unwind.state_directory = given->state_directory;
	if (!failpoint_arm("agent", given->failpoints, err))
		return false;
	if (!kernel_check(given->allow_unsafe_kernel, err))
		return false;
	if (!external_labels_parse(str_from(given->external_labels), &arena, &options.external,
				   err))
		return false;

	host_raise_descriptors();
	/* Before anything is counted: with an address that is taken the agent ends at once, and
	 * what it had sampled by then its successor would have to book as lost. */
	if (!daemon_serve(&server, &given->daemon, &service, err))
		return false;

	bool ok = outlet_open(&outlet, given, str_z(&arena, node), err) &&
		  upload_open(&upload, given, &options, err) &&
		  docker_start(&docker, given->docker_socket, err) &&
		  (daemon_stopping() || sample(given, &options, &outlet, &is_sampling, err));

	docker_stop(&docker);
	upload_stop(&upload);
	outlet_close(&outlet);
	daemon_unserve(&server);
	return ok;
}

int main(int argc, char **argv)
{
	/* Else it grows with what is freed, and what one batch took stays the agent's. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	return daemon_main(
		&(struct daemon_program){
			.conf = { "decima-agent",
				  "Samples every process of this host, and sends or stores the "
				  "profiles.",
				  keys, ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.register_metrics = register_metrics,
			.run = run,
		},
		argc, argv);
}
