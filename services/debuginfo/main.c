// SPDX-License-Identifier: Apache-2.0
/*
 * decima-debuginfo - a debuginfod server for files that agents and build pipelines upload, and a
 * proxy for other debuginfod servers.
 */
#include "base/clock.h"
#include "base/liveness.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/disk_check.h"
#include "debuginfo/files_sweep.h"
#include "debuginfo/handler_buildid.h"
#include "debuginfo/handler_generations.h"
#include "debuginfo/handler_upload.h"
#include "debuginfo/upstream.h"
#include "server/daemon.h"
#include "server/json/json_error.h"
#include "server/metrics/metrics.h"

#include <sys/resource.h>

struct settings {
	struct daemon_settings daemon;
	const char *state_directory;
	uint64_t store_max_bytes;
	struct handler_upload_options upload;
	struct upstream_options upstream;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct conf_key keys[] = {
	DAEMON_KEYS(struct settings, daemon, "127.0.0.1:8002"),
	{ "state-directory", CONF_STR, FIELD(state_directory),
	  .fallback = "/var/lib/decima-debuginfo",
	  .help = "Directory of the store; replicas may share it." },
	{ "store-max-bytes", CONF_BYTES, FIELD(store_max_bytes), .fallback = "20GB", .min = 1 << 20,
	  .help = "Disk space for stored files; beyond it, the files that were not requested for "
		  "the "
		  "longest time are evicted, but none for an upload that was requested in the last "
		  "24 hours. "
		  "Files that are being received are not counted." },
	{ "upload-max-bytes", CONF_BYTES, FIELD(upload.max_bytes), .fallback = "1GB", .min = 1,
	  .help = "Maximum size of a file, in an upload or from upstream." },
	{ "upload-daily-max-bytes", CONF_BYTES, FIELD(upload.daily_bytes), .fallback = "4GB",
	  .help = "Bytes that one client address may upload per day, at least --upload-max-bytes; "
		  "0: any number, for instance behind a proxy." },
	{ "upload-timeout", CONF_DURATION, FIELD(upload.timeout_ns), .fallback = "15m",
	  .min = 1000000000,
	  .help = "Maximum duration of an upload. An upload that sends nothing for 30 s, or less "
		  "than "
		  "16 KiB a second after 30 s, is aborted earlier." },
	{ "upload-token-file", CONF_STR, FIELD(upload.token_file), .fallback = "",
	  .help = "File with the token that uploads must carry (Authorization: Bearer). If empty, "
		  "every client may upload, but only files that contain their build id." },
	{ "debuginfod-upstream-servers", CONF_STR, FIELD(upstream.servers), .fallback = "",
	  .help = "Other debuginfod servers to query for files that are not stored: URLs, "
		  "separated by "
		  "spaces or commas." },
	{ "upstream-timeout", CONF_DURATION, FIELD(upstream.timeout_ns), .fallback = "10m",
	  .min = 1000000000, .help = "Maximum duration of a download from an upstream server." },
	{ "upstream-miss-ttl", CONF_DURATION, FIELD(upstream.missing_ns), .fallback = "10m",
	  .help = "How long a miss on all upstream servers is cached." },
};

/* Shared by the threads of the HTTP server. */
struct debuginfo_service {
	struct files files;
	struct upstream upstream;
	struct handler_upload upload;
	struct handler_buildid buildid;
	struct disk_check disk;
	uint64_t sweep_ns; /* when the main thread scans the store again */
};

static bool is_ready(void *self, struct err *why)
{
	struct debuginfo_service *service = self;

	return disk_check_result(&service->disk, why);
}

static void check(void *self)
{
	struct debuginfo_service *service = self;

	liveness_step("checking the disk of the store");
	disk_check_run(&service->disk);
	if (clock_monotonic_ns() < service->sweep_ns)
		return;
	/* Other processes may write to the same store. */
	liveness_step("scanning the store");
	files_sweep(&service->files);
	service->sweep_ns = clock_monotonic_ns() + RESCAN_SECONDS * NS_PER_SECOND;
}

static struct metric *const *const metrics[] = { files_metrics,
						 files_sweep_metrics,
						 handler_buildid_metrics,
						 handler_upload_metrics,
						 upload_shares_metrics,
						 upstream_metrics,
						 handler_generations_metrics,
						 NULL };

static bool serve_until_stop(struct debuginfo_service *service,
			     const struct daemon_settings *settings, struct err *err)
{
	const struct http_route routes[] = {
		{ .method = "GET",
		  .path = "/buildid/",
		  .handle = handler_buildid,
		  .self = &service->buildid },
		{ .method = "PUT",
		  .path = "/buildid/",
		  .handle = handler_upload_finish,
		  .self = &service->upload,
		  .body_max = service->upload.max_bytes,
		  .stream = &service->upload.stream },
		{ .method = "POST",
		  .path = "/api/v1/generations",
		  .handle = handler_generations,
		  .self = &service->files,
		  .body_max = GENERATIONS_BODY_MAX },
	};
	const struct daemon_service wanted = { .routes = routes,
					       .route_count = ARRAY_LEN(routes),
					       .self = service,
					       .ready = is_ready,
					       .error_body = json_error_unhandled,
					       .connections = CONNECTIONS,
					       .periodic = check,
					       .period_ms = DISK_CHECK_MS };

	disk_check_init(&service->disk, &service->files);
	service->sweep_ns = clock_monotonic_ns() + RESCAN_SECONDS * NS_PER_SECOND;

	bool served = daemon_serve_until_stop(settings, &wanted, err);

	disk_check_done(&service->disk);
	return served;
}

/* A connection uses one descriptor, and up to two more for files that it fetches or stores. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < DESCRIPTORS)
		log_warn("file descriptor limit is low", "allowed=%ju wanted=%d",
			 (uintmax_t)limit.rlim_cur, DESCRIPTORS);
}

static bool run(void *self, struct err *err)
{
	struct settings *settings = self;
	struct debuginfo_service service = { 0 };
	bool served = false;

	raise_descriptors();
	if (settings->upload.max_bytes > settings->store_max_bytes)
		return err_set(err, ERR_INVALID,
			       "--upload-max-bytes is more than --store-max-bytes");
	if (settings->upload.daily_bytes &&
	    settings->upload.max_bytes > settings->upload.daily_bytes)
		return err_set(err, ERR_INVALID,
			       "--upload-max-bytes is more than --upload-daily-max-bytes");
	/* Behind a proxy all clients have one address. */
	settings->upload.client_slots =
		settings->daemon.address_share == 100 ? UPLOADS_MAX : UPLOADS_PER_CLIENT_MAX;
	settings->upstream.max_bytes = settings->upload.max_bytes;
	settings->upstream.cancel = daemon_cancel();
	service.buildid =
		(struct handler_buildid){ .files = &service.files, .upstream = &service.upstream };
	if (files_open(&service.files, settings->state_directory, settings->store_max_bytes, err) &&
	    handler_upload_open(&service.upload, &settings->upload, &service.files, err) &&
	    upstream_open(&service.upstream, &settings->upstream, &service.files, err))
		served = serve_until_stop(&service, &settings->daemon, err);
	upstream_close(&service.upstream);
	files_close(&service.files);
	return served;
}

int main(int argc, char **argv)
{
	static struct settings settings;

	return daemon_main(
		&(struct daemon_program){
			.conf = { .name = "decima-debuginfo",
				  .summary = "Stores debug files and serves them to debuginfod "
					     "clients.",
				  .keys = keys,
				  .key_count = ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.metrics = metrics,
			.run = run,
		},
		argc, argv);
}
