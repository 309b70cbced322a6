// SPDX-License-Identifier: Apache-2.0
/*
 * agent_limits - what a host may make the agent hold. Each has a counter or is said in the log.
 */
#pragma once

enum {
	PROCESSES_MAX = 65536,  /* more: the process is not kept, its samples have no mappings */
	MAPPINGS_MAX = 8192,    /* executable mappings of one process */
	EXECUTABLES_MAX = 8192, /* least recently mapped first out */
	PROC_MAPS_BYTES_MAX = 16 << 20, /* of /proc/PID/maps; the rest is not read */
	PROC_FILE_BYTES_MAX = 64 << 10, /* of other files in /proc/PID */
	KALLSYMS_BYTES_MAX = 64 << 20,
	KSYMBOLS_MAX = 16384, /* symbols told by the side band: BPF programs, trampolines */
	EXTERNAL_LABELS_MAX = 32,
	TIMELINE_BYTES_MAX = 64 << 20, /* events waiting for their time; more: samples are lost */
	DEFERRED_BYTES_MAX =
		16 << 20, /* samples waiting for a table; more: walked with what there is */
	CPUS_MAX = 4096,
	DESCRIPTORS_WANTED = 16384,  /* file descriptors that are asked for at the start */
	KALLSYMS_MODULES_MAX = 4096, /* more: their symbols are the kernel's own */
};

enum {
	SPOOL_KEY_MAX = 1024,       /* bytes of a host id */
	SPOOL_STATUS_MAX = 8192,    /* bytes of an AgentStatus */
	SPOOL_VALUE_MAX = 64 << 20, /* bytes of one batch */
	SPOOL_BAD_FILES_MAX = 8,    /* set aside; any more are removed */
	PUBLISH_IN_FLIGHT_MAX = 16, /* batches given to Kafka and not acknowledged */
};

/* Of a file with debug info, and of what is sent of it. */
#define UPLOAD_FILE_BYTES_MAX (4ULL << 30)

enum {
	UPLOADS_HELD_MAX = 1024,         /* files kept open until their upload is decided */
	UPLOAD_TRIES_MAX = 10,           /* of one file, over half an hour; then it is given up */
	UPLOADER_MEMORY_MAX = 256 << 20, /* address space of the uploader process */
	UPLOAD_PAUSE_FIRST_MS = 1000,    /* while the service cannot be reached */
	UPLOAD_PAUSE_MAX_MS = 60000,
	UPLOAD_RETRY_FIRST_MS = 5000, /* for what is refused for now */
	UPLOAD_RETRY_MAX_MS = 600000,
	UPLOAD_STALL_MS = 60000,  /* without a byte */
	UPLOAD_GRACE_MS = 60000,  /* for reading headers; beyond, the uploader is ended */
	UPLOAD_LOOK_MS = 5000,    /* at what was deleted meanwhile */
	UPLOAD_IDLE_MS = 60000,   /* with nothing to do */
	UPLOADER_IDLE_MS = 30000, /* then the uploader is ended */
};

/* Of Docker's answers; the longest object of one is in docker_object.h. */
enum {
	CONTAINERS_MAX = 4096, /* more: they have no names */
	CONTAINERS_GONE_MAX =
		256, /* kept for samples of their last moments; the first to go first */
	CONTAINER_TEXT_MAX = 192,      /* bytes of a name or an image, its end included */
	DOCKER_OBJECT_MAX = 256 << 10, /* bytes about one container */
	DOCKER_HEAD_MAX = 16 << 10,    /* of an answer's head */
	DOCKER_ANSWER_MS = 10000,      /* until an answer begins */
	DOCKER_LIST_MS = 30000,        /* for the list */
	DOCKER_PAUSE_FIRST_MS = 1000,
	DOCKER_PAUSE_MAX_MS = 30000,
	DOCKER_FIRST_STEP_MS = 10,
	DOCKER_FIRST_STEPS = 200, /* the start waits so long for the first list at most */
};

enum {
	SIDEBAND_RING_PAGES = 64, /* per CPU; 256 KB with pages of 4 KB */
	SAMPLE_RING_BYTES_MAX = 64 << 20,
	SAMPLE_BYTES_TYPICAL = 1024,
	SAMPLE_SHIPPED_BYTES_TYPICAL = 10 << 10, /* of one whose stack travels */
	SAMPLE_RING_SHIPPED_BYTES_MAX = 4 << 20, /* beyond it they get what samples leave them */
	DRAIN_INTERVAL_MS = 250,                 /* the one wake-up of the agent */
	DRAIN_PRESSED_MS = 50,       /* the same while a ring of the side band fills faster */
	SAMPLE_RING_SECONDS = 2,     /* the ring holds as much, if records are of typical size */
	DEFERRED_MS_MAX = 5000,      /* for a table; then a stack is walked with what there is */
	RESTLESS_MS = 5000,          /* a process in which code took the place of other code */
	EXITED_KEPT_MS = 1000,       /* a process that ended, for samples of its last moments */
	RESCAN_INTERVAL_MS = 10000,  /* of /proc, after side-band records were lost */
	SWEEP_INTERVAL_MS = 300000,  /* of the table, for processes that are no more */
	CGROUP_REFRESH_MS = 60000,   /* of /proc/PID/cgroup, where the kernel tells no change */
	EXECUTABLE_RETRY_MS = 5000,  /* of a file that could not be opened */
	KALLSYMS_REFRESH_MS = 30000, /* at most so often */
	BATCH_BYTES = 1000000,       /* of one message: Kafka takes 1 MB by default */
	BPFFS_LOCK_MS = 10000,       /* while another agent mounts it */
	DETACH_WAIT_MS = 10000,      /* for a predecessor's timers to go */
	DETACH_STEP_MS = 10,
	STOP_STEP_MS = 20,
	STOP_GRACE_MS = 3000, /* for sending what is spooled, on SIGTERM */
};

/* Of the lists of mappings that programs find; beside the tables, within the same bound. */
#define UNWIND_LISTS_BYTES_MAX (64ULL << 20)

/* Of the disk that tables are kept on: it is the spool's, which must not find it full. */
#define UNWIND_CACHE_SPARE_BYTES (256ULL << 20)

enum {
	UNWIND_FILES_HELD_MAX = 1024, /* kept open until their table is wanted; the oldest go */
	UNWIND_ASKED_MAX = 16,        /* tables that are fetched or built at a time; others wait */
	UNWIND_LOAD_PAGES_MAX = 4096, /* copied into the kernel in one round; 16 MB */
	UNWIND_KEPT_MS = 5000,   /* a table sampled so shortly ago stays; another may ask again */
	UNWIND_MAPPED_MAX = 8,   /* segments of 256 KB that are mapped at a time */
	UNWIND_MAPPED_KEPT = 2,  /* of them, from round to round while they are used */
	UNWIND_RETRY_MS = 30000, /* of a table whose file could not be read */
	UNWIND_BUILDER_MEMORY_MAX = 512 << 20, /* of the process that builds tables */
	UNWIND_BUILD_MS = 60000,               /* of one table; beyond, its builder is ended */
	UNWIND_BUILD_TRIES = 2,                /* of a file that its builder did not survive */
	UNWIND_BUILDER_IDLE_MS = 10000,        /* then the builder is ended */
};
