// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent - samples every process of this host and sends the profiles to Kafka.
 *
 * The main thread samples, symbolizes kernel frames and writes batches to the spool. A second
 * thread (publish) sends batches from the spool to Kafka whenever Kafka is reachable. With
 * --local-store-directory the agent writes pprof files and uses neither spool nor Kafka.
 */
#include "agent/agent_limits.h"
#include "agent/capture/counts.h"
#include "agent/capture/profiler.h"
#include "agent/capture/profiler_metrics.h"
#include "agent/files/file_reader.h"
#include "agent/kernel/bpffs.h"
#include "agent/kernel/kernel_check.h"
#include "agent/kernel/rights.h"
#include "agent/labels/docker.h"
#include "agent/labels/external_labels.h"
#include "agent/labels/host.h"
#include "agent/spool/batch.h"
#include "agent/spool/failpoints.h"
#include "agent/spool/local_store.h"
#include "agent/spool/publish.h"
#include "agent/upload/upload.h"
#include "base/clock.h"
#include "base/liveness.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_child.h"
#include "server/daemon.h"
#include "server/metrics/metrics.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
	MMAP_THRESHOLD = 128 << 10,
	SAMPLING_NICE = -10, /* nice value of the sampling thread */
};

struct settings {
	struct daemon_settings daemon;
	const char *node, *brokers, *topic, *state_directory, *bpffs_directory, *external_labels,
		*local_store, *failpoints, *debuginfo_url, *debuginfo_token_file, *docker_socket;
	uint64_t spool_max_bytes, spool_max_rate, hz, duration_ns, debuginfo_timeout_ns,
		debuginfo_held_max_bytes, unwind_max_bytes, unwind_cache_max_bytes, sandbox_uid;
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
	  .max = 1000,
	  .help = "Samples per second and CPU; a prime number avoids lockstep with periodic "
		  "work." },
	{ "metadata-external-labels", CONF_STR, FIELD(external_labels), .fallback = "",
	  .help = "Labels of all samples of this host: name=value, separated by , or ;." },
	{ "kafka-brokers", CONF_STR, FIELD(brokers), .fallback = "127.0.0.1:9092",
	  .help = "Kafka bootstrap servers, separated by commas." },
	{ "kafka-topic", CONF_STR, FIELD(topic), .fallback = PUBLISH_TOPIC,
	  .help = "Topic that batches are sent to." },
	{ "state-directory", CONF_STR, FIELD(state_directory), .fallback = "/var/lib/decima-agent",
	  .help = "Directory of the spool; one agent at a time." },
	{ "bpffs-directory", CONF_STR, FIELD(bpffs_directory), .fallback = "/sys/fs/bpf",
	  .help = "BPF file system in which counters outlive the agent, so that its successor can "
		  "report the samples that a killed agent lost; it is mounted if there is none." },
	{ "spool-max-bytes", CONF_BYTES, FIELD(spool_max_bytes), .fallback = "1GB", .min = 4 << 20,
	  .help = "Disk space for batches that are not in Kafka yet; beyond it the oldest batches "
		  "are removed." },
	{ "spool-max-rate", CONF_BYTES, FIELD(spool_max_rate), .fallback = "256KB", .min = 1 << 10,
	  .help = "Highest rate of sending from the spool to Kafka, in bytes per second before "
		  "compression; but always at least twice the rate of new batches." },
	{ "local-store-directory", CONF_STR, FIELD(local_store), .fallback = "",
	  .help = "Write pprof files into this directory and send nothing; needs no server." },
	{ "debuginfo-url", CONF_STR, FIELD(debuginfo_url), .fallback = "",
	  .help = "Debuginfo service, http://HOST:8002, to which the debug info of sampled "
		  "programs "
		  "is uploaded, each build once; empty: no uploads." },
	{ "debuginfo-token-file", CONF_STR, FIELD(debuginfo_token_file), .fallback = "",
	  .help = "File with the token for the debuginfo service; binaries without a build id can "
		  "only be uploaded with a token." },
	{ "debuginfo-upload-timeout", CONF_DURATION, FIELD(debuginfo_timeout_ns), .fallback = "15m",
	  .min = NS_PER_SECOND, .max = 24 * 3600 * NS_PER_SECOND,
	  .help = "Timeout of one upload." },
	{ "debuginfo-held-max-bytes", CONF_BYTES, FIELD(debuginfo_held_max_bytes),
	  .fallback = "256MB",
	  .help = "Disk space of deleted files that are kept open until their debug info is "
		  "uploaded; beyond it the debug info of the newest is not uploaded." },
	{ "sandbox-uid", CONF_U64, FIELD(sandbox_uid), SANDBOX_UID_SETTING },
	{ "allow-unsafe-kernel", CONF_BOOL, FIELD(allow_unsafe_kernel), .fallback = "false",
	  .help = "Run on a kernel that is older than 5.10, or that may freeze when BPF reads the "
		  "memory of a process: 5.19 to 6.1.35, 6.2 to 6.3.9." },
	{ "unwind-table-max-bytes", CONF_BYTES, FIELD(unwind_max_bytes), .fallback = "256MB",
	  .min = 1 << 20, .max = 2ULL << 30,
	  .help = "Kernel memory for unwind tables and lists of mappings; beyond it the least "
		  "recently sampled are evicted." },
	{ "unwind-cache-max-bytes", CONF_BYTES, FIELD(unwind_cache_max_bytes), .fallback = "512MB",
	  .help = "Disk space in the state directory for the cache of unwind tables, so that each "
		  "table is built once; beyond it the least recently used are removed." },
	{ "docker-socket", CONF_STR, FIELD(docker_socket), .fallback = "/var/run/docker.sock",
	  .help = "Socket of Docker or Podman, from which the names of containers are read; "
		  "without "
		  "it containers have only an id. Empty: names are not read." },
	{ "failpoints", CONF_STR, FIELD(failpoints), .fallback = "",
	  .help = "For tests: kill or stop this process at named places, NAME=kill|stop[:VISIT], "
		  "separated by commas; docs/failpoints.md lists them." },
};

/* The sink of an interval's samples: local files, or the spool and from there Kafka. */
struct sample_sink {
	struct local_store files;
	struct spool spool;
	struct counts counts;
	struct batch_writer writer;
	struct publish publish;
	bool local;
};

/* Accounts for samples that predecessors counted but did not spool. If the counters cannot be
 * pinned or read, no loss is reported. */
static void sink_account(struct sample_sink *sink, const struct settings *conf)
{
	struct counts_options options = { .bpffs_directory = conf->bpffs_directory,
					  .state_directory = conf->state_directory,
					  .epoch = sink->spool.epoch };
	struct err err;

	options.is_reported_known = batch_writer_reported(&sink->writer, &options.reported);
	if (counts_open(&sink->counts, &options, &err))
		batch_writer_add_unreported(&sink->writer, &sink->counts.unreported);
	else
		log_warn("counters are not pinned: losses of a killed agent will be unknown",
			 "error=\"%s\"", err.msg);
}

static bool sink_open(struct sample_sink *sink, const struct settings *conf, const char *node,
		      struct err *err)
{
	sink->local = conf->local_store[0];
	if (sink->local)
		return local_store_open(&sink->files, conf->local_store, err);

	struct spool_options spool = { .state_directory = conf->state_directory,
				       .node = node,
				       .max_bytes = conf->spool_max_bytes };
	struct publish_options publish = { .brokers = conf->brokers,
					   .topic = conf->topic,
					   .max_rate = conf->spool_max_rate };

	if (!spool_open(&sink->spool, &spool, err))
		return false;
	batch_writer_init(
		&sink->writer, &sink->spool,
		&(struct batch_options){ .node = node, .hz = conf->hz, .counts = &sink->counts });
	sink_account(sink, conf);
	return publish_start(&sink->publish, &sink->spool, &publish, err);
}

static void sink_write(struct sample_sink *sink, struct profiler *profiler, uint64_t start_ms)
{
	const struct sample_set *set = &profiler->collect.set;
	struct profiler_counts counts = profiler_counts_get(profiler);
	struct err err;

	if (!sink->local)
		batch_write(&sink->writer, set, &counts);
	else if (!local_store_write(&sink->files, set, start_ms, clock_unix_ns() / NS_PER_MS, &err))
		log_error("samples lost: the local store cannot be written",
			  "samples=%zu error=\"%s\"", set->samples.len, err.msg);
}

/* Waits at most STOP_GRACE_MS for the publisher to send the spool; the remainder stays for the next
 * start. The spool stays open. */
static void sink_close(struct sample_sink *sink)
{
	if (sink->local) {
		local_store_close(&sink->files);
		return;
	}

	uint64_t end_ms = clock_monotonic_ns() / NS_PER_MS + STOP_GRACE_MS, now_ms;

	while ((now_ms = clock_monotonic_ns() / NS_PER_MS) < end_ms && sink->publish.running &&
	       spool_level_get(&sink->spool).batches)
		clock_sleep_ms(STOP_STEP_MS);
	publish_stop(&sink->publish, now_ms < end_ms ? end_ms - now_ms : 0);
	batch_writer_done(&sink->writer);
	counts_close(&sink->counts);
}

static void end_interval(struct profiler *profiler, struct sample_sink *sink, uint64_t start_ms)
{
	log_debug("interval ended", "samples=%zu stacks=%zu", profiler->collect.set.samples.len,
		  profiler->collect.set.stacks.len);
	sink_write(sink, profiler, start_ms);
	profiler_metrics_update(profiler);
}

/* What /ready looks at, on threads of the server. */
struct readiness {
	_Atomic uint64_t drained_ns; /* last round of the sampling thread; 0: not sampling yet */
	struct sample_sink *sink;
};

static void run_intervals(struct profiler *profiler, struct sample_sink *sink, uint64_t duration_ns,
			  struct readiness *readiness)
{
	uint64_t start_ms = clock_unix_ns() / NS_PER_MS;
	uint64_t next_ns = clock_monotonic_ns() + duration_ns;

	while (daemon_wait(profiler_pause_ms(profiler))) {
		profiler_drain(profiler);
		profiler_metrics_count(profiler);
		atomic_store(&readiness->drained_ns, clock_monotonic_ns());
		if (clock_monotonic_ns() < next_ns)
			continue;
		end_interval(profiler, sink, start_ms);
		profiler_next_interval(profiler);
		malloc_trim(0);
		start_ms = clock_unix_ns() / NS_PER_MS;
		next_ns += duration_ns;
		if (next_ns < clock_monotonic_ns()) /* after a disk stall or a suspended machine */
			next_ns = clock_monotonic_ns() + duration_ns;
	}
	profiler_finish(profiler);
	end_interval(profiler, sink, start_ms);
}

/*
 * A kernel with autogroups divides CPU time among sessions first: nice values hold within one, and
 * a user can make any number of sessions. The helper processes have sessions of their own. True if
 * the session has priority, or if it is not the agent's alone or there are no autogroups.
 */
static bool raise_session(void)
{
	AUTO_FD fd =
		getsid(0) == getpid() ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

	return fd < 0 || dprintf(fd, "%d", SAMPLING_NICE) > 0;
}

/*
 * On a loaded host the sampling thread would wait for its turn while the rings fill. Its work in a
 * round is bounded, so that it delays others little. The threads that exist already keep their
 * priority.
 */
static void raise_priority(void)
{
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), SAMPLING_NICE) != 0 || !raise_session())
		log_info("the sampling thread has no priority over other programs",
			 "needs=CAP_SYS_NICE");
}

static bool sample(const struct settings *conf, const struct profiler_options *options,
		   struct sample_sink *sink, struct readiness *readiness, struct err *err)
{
	static struct profiler profiler;

	if (!profiler_open(&profiler, options, err))
		return err_wrap(err, "start sampling");
	raise_priority();
	log_info("sampling", "hz=%" PRIu64, options->hz);
	atomic_store(&readiness->drained_ns, clock_monotonic_ns());
	/* A restart loses what the hung thread has collected, which its successor counts. */
	liveness_begin("sampling");
	run_intervals(&profiler, sink, conf->duration_ns, readiness);
	liveness_end();
	profiler_close(&profiler);
	return true;
}

/* Batches that wait for Kafka are the purpose of the spool; batches that cannot be read are not. */
static bool is_ready(void *self, struct err *why)
{
	struct readiness *readiness = self;
	uint64_t drained_ns = atomic_load(&readiness->drained_ns);
	uint64_t late_ms = (clock_monotonic_ns() - drained_ns) / NS_PER_MS;

	if (!drained_ns)
		return err_set(why, ERR_IO, "not sampling yet");
	if (late_ms > DRAIN_LATE_MS)
		return err_set(why, ERR_IO,
			       "the sampling thread has not read the samples for %" PRIu64 " ms",
			       late_ms);
	if (readiness->sink->local)
		return true;

	uint64_t unreadable = spool_level_get(&readiness->sink->spool).unreadable;

	return !unreadable ||
	       err_set(why, ERR_IO, "%" PRIu64 " batches of the spool cannot be read, see the log",
		       unreadable);
}

static bool upload_room(void *self, const struct executable *executable)
{
	return upload_has_room(self, executable->owner);
}

static bool upload_plenty(void *self)
{
	return upload_has_plenty(self);
}

static bool upload_executable(void *self, struct executable *executable,
			      const struct executable_file *file)
{
	return upload_offer(self, &(struct upload_file){ .build_id = executable->build_id,
							 .is_trusted = executable->is_trusted,
							 .owner = executable->owner,
							 .path = file->path,
							 .fd = file->fd,
							 .root = file->root });
}

static bool upload_open(struct debug_upload *upload, const struct settings *conf,
			struct profiler_options *profiler, struct err *err)
{
	const struct debug_upload_options options = { .url = conf->debuginfo_url,
						      .token_file = conf->debuginfo_token_file,
						      .timeout_ns = conf->debuginfo_timeout_ns,
						      .deleted_max_bytes =
							      conf->debuginfo_held_max_bytes,
						      .sandbox_uid = conf->sandbox_uid };

	if (!upload_start(upload, &options, err))
		return false;
	if (upload->running)
		profiler->executables = (struct executable_sink){ .has_room = upload_room,
								  .has_plenty = upload_plenty,
								  .offer = upload_executable,
								  .self = upload };
	return true;
}

static bool files_open(struct file_reader *files, const struct settings *conf,
		       struct profiler_options *profiler, struct err *err)
{
	if (!file_reader_start(files, conf->sandbox_uid, err))
		return false;
	profiler->files = file_reader_source(files);
	return true;
}

static struct metric *const *const metrics[] = { profiler_metrics,
						 batch_metrics,
						 publish_metrics,
						 local_store_metrics,
						 upload_metrics,
						 unwind_loader_metrics,
						 unwind_builder_metrics,
						 docker_metrics,
						 file_reader_metrics,
						 sandbox_metrics,
						 NULL };

/* Before the first thread is started. Only the mount needs more rights; if it fails,
 * counts_open() tries again and reports it. */
static bool limit_rights(const struct settings *conf, struct err *err)
{
	struct err ignored;

	if (!conf->local_store[0] && conf->bpffs_directory[0])
		(void)!bpffs_mount(conf->bpffs_directory, &ignored);
	return rights_limit(err);
}

static bool run(void *self, struct err *err)
{
	static struct sample_sink sink;
	static struct debug_upload upload;
	static struct docker docker;
	static struct file_reader files;
	const struct settings *conf = self;
	AUTO_ARENA arena = { 0 };
	str node = conf->node[0] ? str_from(conf->node) : host_name(&arena);
	struct profiler_options options = { .hz = conf->hz,
					    .node = node,
					    .counts = &sink.counts,
					    .unwind_max_bytes = conf->unwind_max_bytes,
					    .unwind = { .cache_max_bytes =
								conf->unwind_cache_max_bytes,
							.sandbox_uid = conf->sandbox_uid },
					    .containers = &docker.containers };
	struct readiness readiness = { .sink = &sink };
	struct daemon_service service = { .self = &readiness, .ready = is_ready };
	struct daemon_server server = { 0 };

	if (!conf->local_store[0])
		options.unwind.state_directory = conf->state_directory;
	if (!failpoint_arm(&agent_failpoints, conf->failpoints, err))
		return false;
	if (!kernel_check(conf->allow_unsafe_kernel, err))
		return false;
	if (!external_labels_parse(str_from(conf->external_labels), &arena, &options.external, err))
		return false;

	host_raise_descriptors();
	if (!limit_rights(conf, err))
		return false;
	/* Before sampling starts: if the address is in use the agent exits at once, and a successor
	 * would have to report its samples as lost. */
	if (!daemon_serve(&server, &conf->daemon, &service, err))
		return false;

	bool ok = sink_open(&sink, conf, str_z(&arena, node), err) &&
		  upload_open(&upload, conf, &options, err) &&
		  docker_start(&docker, conf->docker_socket, err) &&
		  files_open(&files, conf, &options, err) &&
		  (daemon_stopping() || sample(conf, &options, &sink, &readiness, err));
	file_reader_stop(&files);
	docker_stop(&docker);
	upload_stop(&upload);
	sink_close(&sink);
	daemon_unserve(&server);
	spool_close(&sink.spool); /* after is_ready() */
	return ok;
}

int main(int argc, char **argv)
{
	/* Else glibc raises the threshold by itself, and the memory of a batch is not returned. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is only one thread yet */
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	return daemon_main(
		&(struct daemon_program){
			.conf = { "decima-agent",
				  "Samples every process of this host, and sends or stores the "
				  "profiles.",
				  keys, ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.metrics = metrics,
			.run = run,
		},
		argc, argv);
}
