// SPDX-License-Identifier: Apache-2.0
/*
 * agent_limits - bounds of the agent's memory, disk, queues and waiting times. When a bound is
 * reached, a counter or a log line reports it. tools/limits/agent.c documents each bound.
 */
#pragma once

enum {
	PROCESSES_MAX = 65536,  /* beyond: the process is not kept, its samples have no mappings */
	MAPPINGS_MAX = 8192,    /* executable mappings of one process */
	EXECUTABLES_MAX = 8192, /* beyond: the least recently mapped is evicted */
	PROC_MAPS_BYTES_MAX = 16 << 20, /* of /proc/PID/maps; more is not read */
	PROC_FILE_BYTES_MAX = 64 << 10, /* of other files in /proc/PID */
	KALLSYMS_BYTES_MAX = 64 << 20,
	KSYMBOLS_MAX = 16384, /* symbols from sideband events: BPF programs, trampolines */
	EXTERNAL_LABELS_MAX = 32,
	TIMELINE_BYTES_MAX = 64 << 20, /* waiting records; beyond: samples are lost */
	DEFERRED_BYTES_MAX = 16 << 20, /* deferred samples; beyond: walked with the loaded tables */
	CPUS_MAX = 4096,
	DESCRIPTORS_WANTED = 16384,  /* file descriptors requested at start */
	KALLSYMS_MODULES_MAX = 4096, /* beyond: their symbols count as the kernel's own */
};

enum {
	SPOOL_KEY_MAX = 1024,       /* bytes of a host id */
	SPOOL_STATUS_MAX = 8192,    /* bytes of an AgentStatus */
	SPOOL_VALUE_MAX = 64 << 20, /* bytes of one batch */
	SPOOL_BAD_FILES_MAX = 8,    /* quarantined; more are removed */
	SPOOL_READS_MAX = 8,        /* of a file that cannot be read: about two minutes */
	PUBLISH_IN_FLIGHT_MAX = 16, /* batches sent to Kafka and not acknowledged */
};

/* The size of a file with debug info, and of the upload made from it. */
#define UPLOAD_FILE_BYTES_MAX (4ULL << 30)

enum {
	UPLOADS_WAITING_MAX = 1024,      /* files kept open until their upload is decided */
	UPLOAD_TRIES_MAX = 10,           /* of one file, over half an hour; then the upload fails */
	UPLOADER_MEMORY_MAX = 256 << 20, /* address space of the uploader process */
	UPLOADER_NICE = 19,              /* priority of the uploader and its parser */
	UPLOAD_PARSE_MS = 60000,         /* for the parser to parse one file, or to read a piece */
	UPLOAD_PARSER_CPU_SECONDS = 300, /* of one upload's parser */
	UPLOAD_PAUSE_FIRST_MS = 1000,    /* while the service is unreachable */
	UPLOAD_PAUSE_MAX_MS = 60000,
	UPLOAD_RETRY_FIRST_MS = 5000, /* for an upload that is rejected temporarily */
	UPLOAD_RETRY_MAX_MS = 600000,
	UPLOAD_STALL_MS = 60000,  /* without a byte */
	UPLOAD_GRACE_MS = 60000,  /* for reading headers; beyond: the uploader is killed */
	UPLOAD_CHECK_MS = 5000,   /* period of checking for deleted files */
	UPLOAD_IDLE_MS = 60000,   /* with nothing to do */
	UPLOADER_IDLE_MS = 30000, /* then the uploader exits */
};

/* Of Docker's responses. */
enum {
	CONTAINERS_MAX = 4096,     /* beyond: their names are unknown */
	CONTAINERS_GONE_MAX = 256, /* kept for samples of their last moments; oldest first out */
	CONTAINER_TEXT_MAX = 192,  /* bytes of a name or an image, with its NUL */
	DOCKER_OBJECT_MAX = 256 << 10, /* bytes of the JSON object of one container */
	DOCKER_HEAD_MAX = 16 << 10,    /* of a response's header */
	DOCKER_RESPONSE_MS = 10000,    /* until a response begins */
	DOCKER_LIST_MS = 30000,        /* for the list of all containers */
	DOCKER_PAUSE_FIRST_MS = 1000,
	DOCKER_PAUSE_MAX_MS = 30000,
	DOCKER_FIRST_STEP_MS = 10,
	DOCKER_FIRST_STEPS = 200, /* steps that the start waits for the first list */
};

enum {
	SIDEBAND_RING_PAGES = 64, /* per CPU; 256 KB with pages of 4 KB */
	SAMPLE_RING_BYTES_MAX = 64 << 20,
	SAMPLE_BYTES_TYPICAL = 1024,
	SAMPLE_SHIPPED_BYTES_TYPICAL = 10 << 10, /* of a sample with a shipped stack */
	SAMPLE_RING_SHIPPED_BYTES_MAX = 4 << 20, /* ring bytes that shipped stacks may require */
	DRAIN_INTERVAL_MS = 250,                 /* the period of the sampling thread */
	DRAIN_PRESSED_MS = 50,                   /* the period while a sideband ring fills fast */
	SAMPLE_RING_SECONDS = 2, /* capacity of the ring, for records of typical size */
	DEFERRED_MS_MAX = 5000,  /* for a table; then the stack is walked with the loaded tables */
	REMAPPED_MS = 5000,      /* how long a process counts as recently remapped */
	EXITED_KEPT_MS = 1000,   /* an exited process, for samples of its last moments */
	RESCAN_INTERVAL_MS = 10000,  /* of /proc, after sideband records were lost */
	SWEEP_INTERVAL_MS = 300000,  /* of the process table, for processes that do not exist */
	CGROUP_REFRESH_MS = 60000,   /* of /proc/PID/cgroup, if the kernel reports no change */
	EXECUTABLE_RETRY_MS = 5000,  /* before opening a file again that could not be opened */
	KALLSYMS_REFRESH_MS = 30000, /* shortest period of reading /proc/kallsyms */
	BATCH_BYTES = 1000000,       /* of one message: Kafka accepts 1 MB by default */
	BPFFS_LOCK_MS = 10000,       /* wait while another agent mounts the bpffs */
	DETACH_WAIT_MS = 10000,      /* wait for a predecessor's timers to detach */
	DETACH_STEP_MS = 10,
	STOP_STEP_MS = 20,
	STOP_GRACE_MS = 3000, /* for sending what is spooled, on SIGTERM */
};

/* Kernel memory for lists of mappings; a part of --unwind-table-max-bytes. */
#define UNWIND_LISTS_BYTES_MAX (64ULL << 20)

/* Disk space that the cache of tables leaves free for the spool, which is on the same disk. */
#define UNWIND_CACHE_SPARE_BYTES (256ULL << 20)

enum {
	UNWIND_FILES_OPEN_MAX = 1024, /* kept open for their table; beyond: oldest are closed */
	UNWIND_REQUESTS_MAX = 16,     /* tables fetched or built at a time; others wait */
	UNWIND_LOAD_PAGES_MAX = 4096, /* written to the kernel in one round; 16 MB */
	UNWIND_KEPT_MS = 5000,   /* after a sample a table is not evicted; pause before a retry */
	UNWIND_MAPPED_MAX = 8,   /* segments of 256 KB mapped at a time */
	UNWIND_MAPPED_KEPT = 2,  /* of them, kept mapped from round to round while used */
	UNWIND_RETRY_MS = 30000, /* before a file is read again that could not be read */
	UNWIND_BUILDER_MEMORY_MAX = 512 << 20, /* address space of the builder process */
	UNWIND_BUILD_MS = 60000,               /* for one table; beyond: its builder is killed */
	UNWIND_BUILD_TRIES = 2,                /* of a file at which the builder crashed */
	UNWIND_BUILDER_CPU_SECONDS = 300,      /* of its life; then another one retries the file */
	UNWIND_BUILDER_IDLE_MS = 10000,        /* then the builder exits */
};
