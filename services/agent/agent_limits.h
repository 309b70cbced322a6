// SPDX-License-Identifier: Apache-2.0
/*
 * agent_limits - bounds of the agent's memory, disk, queues and waiting times. When a bound is
 * reached, a counter or a log line reports it.
 */
#pragma once

#include "base/limit.h"

#define AGENT_LIMITS(LIMIT)                                                                        \
	LIMIT(PROCESSES_MAX, 65536, COUNT, "processes in the process table",                       \
	      "samples of other processes have no mappings, " OVER_LIMIT("process"))               \
	LIMIT(PROCESSES_IDLE_MS, 10000, MS,                                                        \
	      "how long a process was neither sampled nor started that loses its place while "     \
	      "three quarters of PROCESSES_MAX are used",                                          \
	      "it is read from `/proc` when it is sampled")                                        \
	LIMIT(MAPPINGS_MAX, 8192, COUNT, "executable mappings of a process",                       \
	      "further mappings are not kept, " OVER_LIMIT("mapping"))                             \
	/* 8 MiB. */                                                                               \
	LIMIT(MAPPINGS_ALL_MAX, 262144, COUNT, "executable mappings of all processes",             \
	      "further mappings are not kept, " OVER_LIMIT("mapping"))                             \
	LIMIT(MAPPINGS_FEW, 512, COUNT,                                                            \
	      "executable mappings of a process that are kept when all are three quarters of "     \
	      "MAPPINGS_ALL_MAX",                                                                  \
	      "larger sets are dropped, and read again when their process is sampled")             \
	LIMIT(MAPPINGS_IDLE_MS, 10000, MS,                                                         \
	      "how long a process was not sampled whose large set is dropped first, or whose "     \
	      "files give way",                                                                    \
	      PACE)                                                                                \
	LIMIT(FILES_RETRY_MS, 2000, MS,                                                            \
	      "how often it is tried whether there is room for files that found no place", PACE)   \
	LIMIT(EXECUTABLES_MAX, 16384, COUNT,                                                       \
	      "places of the cache of executables; an owner of processes has at most as many as "  \
	      "are free",                                                                          \
	      "the least recently mapped of the owner with most is evicted; if all are mapped, "   \
	      "frames have no build id, `decima_agent_executables_refused_total`")                 \
	LIMIT(EXECUTABLES_SPARE, 256, COUNT,                                                       \
	      "places that an owner must be able to take; if not, while files are refused, its "   \
	      "processes that are not sampled lose their mappings",                                \
	      "they are read again when their process is sampled")                                 \
	LIMIT(EXECUTABLE_PLACE_BYTES, 512, BYTES,                                                  \
	      "the path of an executable in one place; a longer one takes further places", PACE)   \
	LIMIT(PROC_MAPS_BYTES_MAX, 16 << 20, BYTES, "`/proc/PID/maps`",                            \
	      "the remainder is not read, " OVER_LIMIT("process_maps"))                            \
	LIMIT(PROC_MAPS_SMALL_BYTES, 256 << 10, BYTES,                                             \
	      "`/proc/PID/maps` that is read at once; a longer one is read later, in the time "    \
	      "for large processes",                                                               \
	      "the process keeps the mappings known so far, " READS_POSTPONED)                     \
	/* In all, 1.5 % of a core. */                                                             \
	LIMIT(PROC_SMALL_MS_PER_SECOND, 10, MS,                                                    \
	      "CPU time per second to read processes from `/proc`", READS_POSTPONED)               \
	LIMIT(PROC_SMALL_BURST_MS, 50, MS, "how much of it may be used at once", READS_POSTPONED)  \
	LIMIT(PROC_LARGE_MS_PER_SECOND, 5, MS,                                                     \
	      "CPU time per second to read large processes from `/proc`", READS_POSTPONED)         \
	LIMIT(PROC_LARGE_BURST_MS, 20, MS, "how much of it may be used at once", READS_POSTPONED)  \
	/* About 2,000 records, fewer with long paths. */                                          \
	LIMIT(MAP_BYTES_PER_SECOND_MAX, 256 << 10, BYTES,                                          \
	      "sideband records of mappings of a process, per second; a process inherits what "    \
	      "its parent has used of it",                                                         \
	      "the process is muted, `decima_agent_sideband_muted_total`")                         \
	LIMIT(MUTED_MS, 10000, MS,                                                                 \
	      "how long the mappings of a process that made too many are read from `/proc` "       \
	      "instead, when it is sampled",                                                       \
	      PACE)                                                                                \
	LIMIT(READ_AGAIN_MS, 1000, MS,                                                             \
	      "how often one process is read from `/proc` while records are lost", PACE)           \
	LIMIT(READ_GENERATED_MS, 2000, MS,                                                         \
	      "how often a sampled process with generated code is read from `/proc`, since "       \
	      "moved code has no event",                                                           \
	      PACE)                                                                                \
	LIMIT(PROC_READ_BYTES, 64 << 10, BYTES, "`/proc/PID/maps` that is read at a time", PACE)   \
	LIMIT(PROC_READ_MS, 500, MS, "the time to read all of it",                                 \
	      "the process is not read for PROC_HUNG_PAUSE_MS, "                                   \
	      "`decima_agent_process_reads_hung_total`")                                           \
	LIMIT(PROC_HUNG_PAUSE_MS, 60000, MS,                                                       \
	      "how long a process that did not let its mappings be read is not read again, and "   \
	      "the others of its owner",                                                           \
	      READS_POSTPONED)                                                                     \
	LIMIT(PROC_HUNG_MAX, 8, COUNT, "such processes",                                           \
	      "further processes are not read until one of these may be read, " READS_POSTPONED)   \
	LIMIT(PROC_FILE_BYTES_MAX, 64 << 10, BYTES, "other files of `/proc/PID`",                  \
	      "the remainder is not read")                                                         \
	LIMIT(KALLSYMS_BYTES_MAX, 64 << 20, BYTES, "`/proc/kallsyms`",                             \
	      "further symbols have no names, " OVER_LIMIT("kernel_symbol"))                       \
	LIMIT(KSYMBOLS_MAX, 16384, COUNT,                                                          \
	      "kernel symbols from sideband events: BPF programs, trampolines",                    \
	      "further symbols have no names, " OVER_LIMIT("kernel_symbol"))                       \
	LIMIT(KALLSYMS_MODULES_MAX, 4096, COUNT, "kernel modules",                                 \
	      "symbols of further modules are shown as the kernel's own")                          \
	LIMIT(EXTERNAL_LABELS_MAX, 32, COUNT, "labels of `--metadata-external-labels`",            \
	      "an error at start")                                                                 \
	LIMIT(TIMELINE_BYTES_MAX, 64 << 20, BYTES,                                                 \
	      "samples and events that wait to be processed in order",                             \
	      "`decima_agent_samples_lost_total{reason=\"timeline_full\"}`, "                      \
	      "`decima_agent_sideband_lost_total`")                                                \
	LIMIT(DEFERRED_BYTES_MAX, 8 << 20, BYTES,                                                  \
	      "deferred samples, which wait for a file or an unwind table; those of one owner of " \
	      "processes use at most as much as is free",                                          \
	      "further stacks are walked with the tables that are loaded, "                        \
	      "`decima_agent_samples_not_deferred_total`")                                         \
	LIMIT(CPUS_MAX, 4096, COUNT, "CPUs", "an error at start")                                  \
	LIMIT(CONTAINERS_MAX, 4096, COUNT, "containers whose names are known",                     \
	      "further containers have only an id, "                                               \
	      "`decima_agent_docker_objects_total{outcome=\"too_many\"}`")                         \
	/* For samples of their last moments. */                                                   \
	LIMIT(CONTAINERS_GONE_MAX, 256, COUNT, "of these, containers that are gone",               \
	      "the one that is gone longest is removed")                                           \
	/* With its NUL. */                                                                        \
	LIMIT(CONTAINER_TEXT_MAX, 192, BYTES, "a container's name, image, service or project",     \
	      "it is truncated at a character")                                                    \
	LIMIT(DOCKER_HEAD_MAX, 16 << 10, BYTES, "the header of a response of Docker",              \
	      "retried after a pause, `decima_agent_docker_failures_total`")                       \
	LIMIT(DOCKER_OBJECT_MAX, 256 << 10, BYTES,                                                 \
	      "the description of one container in a response of Docker",                          \
	      "it is skipped, `decima_agent_docker_objects_total{outcome=\"too_long\"}`")          \
	LIMIT(DOCKER_RESPONSE_MS, 10000, MS, "the wait for the beginning of a response of Docker", \
	      "retried after a pause, `decima_agent_docker_failures_total`")                       \
	LIMIT(DOCKER_LIST_MS, 30000, MS, "the list of all containers",                             \
	      "retried after a pause, `decima_agent_docker_failures_total`")                       \
	LIMIT(DOCKER_FIRST_STEP_MS, 10, MS,                                                        \
	      "how often the start checks for the list of containers", PACE)                       \
	LIMIT(DOCKER_FIRST_STEPS, 200, COUNT, "checks of the start for the list of containers",    \
	      "sampling begins; containers have no names yet")                                     \
	LIMIT(DOCKER_PAUSE_FIRST_MS, 1000, MS, "the first pause before Docker is queried again",   \
	      PACE)                                                                                \
	LIMIT(DOCKER_PAUSE_MAX_MS, 30000, MS, "the longest pause before Docker is queried again",  \
	      PACE)                                                                                \
	LIMIT(SERIES_MAX, 10000, COUNT,                                                            \
	      "different series of a host in an hour; one owner of processes makes at most as "    \
	      "many as others may still make",                                                     \
	      "further ones have `other` as comm, exe and cgroup, " SERIES_OTHER)                  \
	LIMIT(SERIES_OF_OWNER_MAX, 2000, COUNT, "of these, series of one owner",                   \
	      "further ones have `other` as comm, exe and cgroup, " SERIES_OTHER)                  \
	LIMIT(SPOOL_KEY_MAX, 1024, BYTES, "a host id", "an error at start")                        \
	LIMIT(SPOOL_STATUS_MAX, 8192, BYTES, "the AgentStatus of a batch",                         \
	      "`decima_agent_samples_unspooled_total`")                                            \
	LIMIT(SPOOL_VALUE_MAX, 64 << 20, BYTES, "a batch",                                         \
	      "`decima_agent_samples_unspooled_total`")                                            \
	/* About two minutes. */                                                                   \
	LIMIT(SPOOL_READS_MAX, 8, COUNT, "tries to read a batch, after growing pauses",            \
	      "`decima_agent_spool_lost_samples_total{reason=\"spool_corrupt\"}`, if other "       \
	      "batches can be read")                                                               \
	LIMIT(SPOOL_BAD_FILES_MAX, 8, COUNT, "unreadable batches that are quarantined",            \
	      "further ones are removed; each counts in `decima_agent_spool_lost_batches_total`")  \
	LIMIT(UPLOAD_FILE_BYTES_MAX, 4ULL << 30, BYTES,                                            \
	      "a file with debug info, and the upload made from it",                               \
	      UPLOADS                                                                              \
	      "{outcome=\"too_large\"}`; a larger debug file beside the program is ignored")       \
	LIMIT(UPLOADS_WAITING_MAX, 1024, COUNT,                                                    \
	      "files kept open until their upload is decided; of one owner of processes, at most " \
	      "as many as are free",                                                               \
	      "offered again when there is room, `decima_agent_debuginfo_postponed_total`")        \
	LIMIT(UPLOAD_TRIES_MAX, 10, COUNT, "tries of one upload, over half an hour",               \
	      UPLOADS "{outcome=\"gave_up\"}`")                                                    \
	LIMIT(DESCRIPTORS_WANTED, 16384, COUNT, "file descriptors requested at start",             \
	      "a warning in the log; without free descriptors, files are known by path alone")     \
	LIMIT(UPLOADER_MEMORY_MAX, 256 << 20, BYTES,                                               \
	      "address space of the uploader, and of its parser",                                  \
	      UPLOADS "{outcome=\"crashed\"}`")                                                    \
	LIMIT(UPLOADER_NICE, 19, COUNT,                                                            \
	      "nice value of the uploader and of the process that parses files", PACE)             \
	LIMIT(UPLOAD_PARSE_MS, 60000, MS,                                                          \
	      "the time to parse one file, or to read a piece of its extract",                     \
	      UPLOADS "{outcome=\"crashed\"}`")                                                    \
	LIMIT(UPLOAD_PARSER_CPU_SECONDS, 300, SECONDS,                                             \
	      "CPU time of the process that parses an upload's files",                             \
	      UPLOADS "{outcome=\"crashed\"}`")                                                    \
	LIMIT(UPLOAD_PAUSE_FIRST_MS, 1000, MS,                                                     \
	      "the first pause while no debuginfo service responds", PACE)                         \
	LIMIT(UPLOAD_PAUSE_MAX_MS, 60000, MS,                                                      \
	      "the longest pause while no debuginfo service responds", PACE)                       \
	LIMIT(UPLOAD_RETRY_FIRST_MS, 5000, MS,                                                     \
	      "the first pause of a file that is rejected temporarily", PACE)                      \
	LIMIT(UPLOAD_RETRY_MAX_MS, 600000, MS,                                                     \
	      "the longest pause of a file that is rejected temporarily", PACE)                    \
	LIMIT(UPLOAD_STALL_MS, 60000, MS, "time without a byte of an upload or of its response",   \
	      RETRIES "{outcome=\"broken_off\"}`, `{outcome=\"unreachable\"}`")                    \
	LIMIT(UPLOAD_GRACE_MS, 60000, MS,                                                          \
	      "reading a file's headers, in addition to `--debuginfo-upload-timeout`",             \
	      RETRIES "{outcome=\"timed_out\"}`")                                                  \
	LIMIT(UPLOAD_CHECK_MS, 5000, MS,                                                           \
	      "how often the space of deleted files kept open is summed up", PACE)                 \
	LIMIT(UPLOAD_IDLE_MS, 60000, MS, "how long the uploading thread sleeps when idle", PACE)   \
	LIMIT(UPLOADER_IDLE_MS, 30000, MS, "how long an uploader process waits for the next file", \
	      PACE)                                                                                \
	/* A part of --unwind-table-max-bytes. */                                                  \
	LIMIT(UNWIND_LISTS_BYTES_MAX, 64ULL << 20, BYTES,                                          \
	      "kernel memory for lists of processes' mappings",                                    \
	      "the least recently sampled are evicted, "                                           \
	      "`decima_agent_unwind_process_evictions_total`")                                     \
	LIMIT(UNWIND_FILES_OPEN_MAX, 1024, COUNT,                                                  \
	      "files kept open until their unwind table is needed or no process maps them",        \
	      "the oldest are closed; they are opened again through a process that maps them")     \
	LIMIT(UNWIND_REQUESTS_MAX, 16, COUNT,                                                      \
	      "unwind tables that are fetched or built at a time; of one owner of processes, at "  \
	      "most as many as are free",                                                          \
	      "the others wait, `decima_agent_unwind_tables_waiting`")                             \
	/* The spool is on the same disk. */                                                       \
	LIMIT(UNWIND_CACHE_SPARE_BYTES, 256ULL << 20, BYTES,                                       \
	      "disk space that is left free for the spool",                                        \
	      "tables are not cached on disk, `decima_agent_unwind_cache_left_out_total`")         \
	/* 16 MB. */                                                                               \
	LIMIT(UNWIND_LOAD_PAGES_MAX, 4096, COUNT,                                                  \
	      "pages of unwind tables that are written to the kernel in one round",                \
	      "the others wait, `decima_agent_unwind_tables_waiting`")                             \
	/* Of 256 KB each. */                                                                      \
	LIMIT(UNWIND_MAPPED_MAX, 8, COUNT, "segments of unwind tables that the agent has mapped",  \
	      PACE)                                                                                \
	LIMIT(UNWIND_MAPPED_KEPT, 2, COUNT,                                                        \
	      "of these, segments that stay mapped while they are used",                           \
	      "nothing is lost: the others are mapped again")                                      \
	LIMIT(UNWIND_KEPT_MS, 5000, MS,                                                            \
	      "how long a sampled table gives way only to one of an owner with fewer pages; and "  \
	      "the pause of a table without room",                                                 \
	      "the table without room is rejected, `decima_agent_unwind_tables_refused_total`")    \
	LIMIT(UNWIND_RETRY_MS, 30000, MS,                                                          \
	      "the first pause before an unreadable file is tried again", PACE)                    \
	LIMIT(UNWIND_BUILDER_MEMORY_MAX, 512 << 20, BYTES,                                         \
	      "memory of the process that builds unwind tables",                                   \
	      BUILD_ERRORS "{reason=\"crashed\"}` or `\"too_large\"`")                             \
	LIMIT(UNWIND_BUILD_MS, 60000, MS, "the time to build one unwind table",                    \
	      BUILD_ERRORS "{reason=\"timed_out\"}`")                                              \
	LIMIT(UNWIND_BUILD_TRIES, 2, COUNT,                                                        \
	      "tries to build from a file at which the builder crashed",                           \
	      BUILD_ERRORS "{reason=\"crashed\"}`")                                                \
	LIMIT(UNWIND_BUILDER_CPU_SECONDS, 300, SECONDS, "CPU time of a builder process's life",    \
	      "another process retries the file; then " BUILD_ERRORS "{reason=\"crashed\"}`")      \
	LIMIT(UNWIND_BUILDER_IDLE_MS, 10000, MS,                                                   \
	      "how long a builder process waits for the next file", PACE)                          \
	LIMIT(PUBLISH_IN_FLIGHT_MAX, 16, COUNT, "batches sent to Kafka and not acknowledged",      \
	      "the others wait in the spool, `decima_agent_spool_batches`")                        \
	/* 256 KB with pages of 4 KB. */                                                           \
	LIMIT(SIDEBAND_RING_PAGES, 64, COUNT, "pages of the sideband ring, per CPU",               \
	      "records are lost, `decima_agent_sideband_lost_total`; `/proc` is read again")       \
	/* A record takes 0.5 to 1 us. */                                                          \
	LIMIT(SIDEBAND_RECORDS_PER_SECOND, 30000, COUNT, "sideband records that are read",         \
	      "the others are skipped, `decima_agent_sideband_skipped_total`; processes are read " \
	      "from `/proc` when they are sampled")                                                \
	LIMIT(SIDEBAND_RECORDS_BURST, 60000, COUNT, "how many of them may be read at once",        \
	      "the others are skipped, `decima_agent_sideband_skipped_total`")                     \
	LIMIT(SAMPLE_RING_BYTES_MAX, 64 << 20, BYTES, "the ring buffer of samples",                \
	      "`decima_agent_samples_lost_total{reason=\"ring_full\"}`")                           \
	LIMIT(SAMPLE_SHIPPED_BYTES_TYPICAL, 10 << 10, BYTES,                                       \
	      "assumed size of a sample with a shipped stack", PACE)                               \
	LIMIT(SAMPLE_RING_SHIPPED_BYTES_MAX, 4 << 20, BYTES,                                       \
	      "size of the ring that shipped stacks may require",                                  \
	      "`decima_agent_stacks_unfinished_in_bpf_total{fate=\"not_shipped\"}`")               \
	LIMIT(SAMPLE_BYTES_TYPICAL, 1024, BYTES, "assumed size of a sample in the ring",           \
	      "the ring holds samples for less than SAMPLE_RING_SECONDS")                          \
	LIMIT(SAMPLE_RING_SECONDS, 2, SECONDS, "how long the ring holds samples",                  \
	      "`decima_agent_samples_lost_total{reason=\"ring_full\"}`")                           \
	/* The period of the sampling thread. */                                                   \
	LIMIT(DRAIN_INTERVAL_MS, 250, MS, "the time between two drains of the rings", PACE)        \
	/* The ring holds samples for SAMPLE_RING_SECONDS. */                                      \
	LIMIT(DRAIN_LATE_MS, 2000, MS,                                                             \
	      "the time since the last drain, after which the agent is not ready",                 \
	      "`/ready` says so, and the alert DecimaAgentStands")                                 \
	LIMIT(DRAIN_PRESSED_MS, 50, MS, "the same while processes start and exit by the thousand", \
	      PACE)                                                                                \
	LIMIT(DEFERRED_MS_MAX, 5000, MS, "how long a sample waits for the unwind table of a file", \
	      "its stack is walked with the tables that are loaded, "                              \
	      "`decima_agent_samples_deferred_ended_total{end=\"timed_out\"}`")                    \
	LIMIT(REMAPPED_MS, 5000, MS,                                                               \
	      "how long the stacks of a process are shipped after it has mapped code over other "  \
	      "code",                                                                              \
	      PACE)                                                                                \
	/* For samples of its last moments. */                                                     \
	LIMIT(EXITED_KEPT_MS, 1000, MS, "how long an exited process is kept",                      \
	      "later samples of it have no mappings")                                              \
	LIMIT(SWEEP_INTERVAL_MS, 300000, MS, "how often processes that do not exist are removed",  \
	      PACE)                                                                                \
	LIMIT(SWEEP_FULL_MS, 2000, MS, "the same while half of PROCESSES_MAX is used", PACE)       \
	LIMIT(SWEEP_LOSS_MS, 10000, MS, "the same after records were lost", PACE)                  \
	/* If the kernel reports no change. */                                                     \
	LIMIT(CGROUP_REFRESH_MS, 60000, MS, "how old the known control group of a process may be", \
	      PACE)                                                                                \
	LIMIT(EXECUTABLE_RETRY_MS, 5000, MS, "the pause before a file is opened again", PACE)      \
	LIMIT(EXECUTABLE_FRESH_MS, 10000, MS,                                                      \
	      "how long a device and inode name the same file, if the kernel reports no build id", \
	      PACE)                                                                                \
	LIMIT(FILE_REQUESTS_MAX, 2048, COUNT,                                                      \
	      "mapped files that wait to be read; of one owner of processes, at most as many as "  \
	      "are free",                                                                          \
	      "`decima_agent_file_requests_refused_total`; tried again when the file is sampled")  \
	LIMIT(FILE_BATCH_MAX, 16, COUNT, "mapped files that are opened and read at a time", PACE)  \
	/* Of a local file system: a disk that spins up, or a busy machine. */                     \
	LIMIT(FILE_LOCAL_MS, 10000, MS, "the time to open or read a file of a local file system",  \
	      FILES_READ "{outcome=\"timed_out\"}`")                                               \
	LIMIT(FILE_REMOTE_MS, 2000, MS,                                                            \
	      "the time to find, or to open and copy, a file of another file system",              \
	      FILES_READ "{outcome=\"timed_out\"}`; its process is killed")                        \
	LIMIT(FILE_MUTE_MS, 60000, MS,                                                             \
	      "the first pause before a file system that hung is tried again",                     \
	      FILES_READ "{outcome=\"skipped\"}`")                                                 \
	LIMIT(FILE_COPY_BYTES_MAX, 64 << 20, BYTES,                                                \
	      "size of a file that is not on a local file system",                                 \
	      FILES_READ "{outcome=\"unreadable\"}`")                                              \
	LIMIT(FILE_OPENER_MEMORY_MAX, 64 << 20, BYTES, "memory of the process that opens files",   \
	      FILES_READ "{outcome=\"crashed\"}`")                                                 \
	LIMIT(FILE_READER_MEMORY_MAX, 64 << 20, BYTES, "memory of the process that reads files",   \
	      FILES_READ "{outcome=\"crashed\"}`")                                                 \
	LIMIT(FILE_READER_CPU_SECONDS, 300, SECONDS, "CPU time of such a process's life",          \
	      "another process reads the next file; " FILES_READ "{outcome=\"crashed\"}`")         \
	LIMIT(FILE_READER_IDLE_MS, 10000, MS, "how long both wait for the next file", PACE)        \
	LIMIT(KALLSYMS_REFRESH_MS, 30000, MS, "how often kernel symbols are read again", PACE)     \
	LIMIT(BPFFS_LOCK_MS, 10000, MS, "the wait while another agent mounts the bpffs",           \
	      "the agent runs without pinned counters; the log says so")                           \
	LIMIT(DETACH_WAIT_MS, 10000, MS,                                                           \
	      "the wait until the timers of a predecessor are detached",                           \
	      "losses of the predecessor are not reported; the log says so")                       \
	LIMIT(DETACH_STEP_MS, 10, MS, "the period of the checks during these two waits", PACE)     \
	/* Kafka accepts 1 MB by default. */                                                       \
	LIMIT(BATCH_BYTES, 1000000, BYTES, "a message", "it is split")                             \
	LIMIT(STOP_STEP_MS, 20, MS, "how often a stopping agent checks whether all was sent",      \
	      PACE)                                                                                \
	LIMIT(STOP_GRACE_MS, 3000, MS, "the time for sending when the agent stops",                \
	      "the remainder stays in the spool and is sent by the next agent")

AGENT_LIMITS(LIMIT_CONSTANT)
