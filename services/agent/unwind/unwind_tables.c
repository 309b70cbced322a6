// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/unwind/unwind_tables_internal.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "unwind/unwind_format.h"

#include <fcntl.h>
#include <inttypes.h>

const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT] = {
	UNWIND_BUILD_REASON_NAMES,        [UNWIND_UNREADABLE] = "unreadable",
	[UNWIND_CHANGED] = "changed",     [UNWIND_CRASHED] = "crashed",
	[UNWIND_TIMED_OUT] = "timed_out",
};

/* Failures that a retry of the same file may not have. */
static const bool is_transient[UNWIND_OUTCOME_COUNT] = {
	[UNWIND_IO] = true, [UNWIND_UNREADABLE] = true, [UNWIND_CHANGED] = true
};

void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables,
			const struct unwind_table_source *source)
{
	*tables = (struct unwind_tables){ .store = store,
					  .executables = executables,
					  .source = *source,
					  .requests.size = UNWIND_REQUESTS_MAX,
					  .owners.size = UINT64_MAX };
}

static void add_wanted(struct unwind_tables *tables, struct executable *executable)
{
	struct unwind_table *table = &executable->unwind;

	table->state = UNWIND_TABLE_WANTED;
	table->is_awaited = false;
	tables->changed = true;
	executable_set_add(&tables->wanted, executable);
}

/* True if the table may be requested at this time. */
static bool is_due(const struct unwind_table *table, bool is_needed, uint64_t now_ns)
{
	return table->state == UNWIND_TABLE_NONE && now_ns >= table->retry_ns &&
	       (is_needed || now_ns >= table->skip_until_ns);
}

static bool can_be_built(const struct executable *executable)
{
	return executable->segment_count && executable->own_id[0];
}

/* A sample needed the table while the file was known by another claim. The next sample may come
 * too late: the process may have ended. */
static void sink_is_same(void *self, struct executable *executable, struct executable *known)
{
	struct unwind_table *from = &executable->unwind, *to = &known->unwind;

	if (!from->is_awaited)
		return;
	from->is_awaited = false;
	if (!is_due(to, from->is_needed, clock_monotonic_ns()))
		return;
	to->requests += from->requests;
	to->is_needed = to->is_needed || from->is_needed;
	if (!to->is_awaited && can_be_built(known))
		add_wanted(self, known);
}

static bool sink_offer(void *self, struct executable *executable,
		       const struct executable_file *file)
{
	struct unwind_tables *tables = self;
	struct unwind_table *table = &executable->unwind;

	if (table->has_file || (table->state != UNWIND_TABLE_NONE))
		return true;

	int copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return false;
	unwind_files_add(&tables->files, executable, copy);
	if (table->is_awaited)
		add_wanted(tables, executable);
	return true;
}

static void unload(struct unwind_tables *tables, struct executable *executable)
{
	struct unwind_table *table = &executable->unwind;

	unwind_store_release(tables->store, table->page, table->pages);
	tables->pages -= table->pages;
	shares_release(&tables->owners, executable->owner, table->pages);
	tables->changed = tables->has_quarantined = true;
	table->page = 0;
	table->state = UNWIND_TABLE_NONE;
	executable_set_remove(&tables->loaded, executable);
}

static void sink_forget(void *self, struct executable *executable)
{
	struct unwind_tables *tables = self;
	struct unwind_table *table = &executable->unwind;

	unwind_files_close(&tables->files, executable);
	switch (table->state) {
	case UNWIND_TABLE_WANTED:
		executable_set_remove(&tables->wanted, executable);
		break;
	case UNWIND_TABLE_FETCHED:
		executable_set_remove(&tables->fetched, executable);
		close(table->fd);
		break;
	case UNWIND_TABLE_LOADED:
		unload(tables, executable);
		break;
	case UNWIND_TABLE_REQUESTED: /* its response will find no executable */
		shares_release(&tables->requests, executable->owner, 1);
		break;
	case UNWIND_TABLE_NONE:
	case UNWIND_TABLE_FAILED:
		break;
	}
}

struct executable_sink unwind_tables_sink(struct unwind_tables *tables)
{
	return (struct executable_sink){
		.offer = sink_offer, .forget = sink_forget, .is_same = sink_is_same, .self = tables
	};
}

/* Requests the file through a process that maps it. False: it is open, or cannot be requested. */
static bool request_file(struct unwind_tables *tables, struct executable *executable,
			 const struct unwind_mapper *mapper)
{
	char build_id[BUILD_ID_BYTES_MAX];
	struct executable_claim claim = executable_claim_of(executable, build_id);

	claim.pid = mapper->pid;
	claim.parent_pid = mapper->parent_pid;
	claim.start = mapper->start;
	claim.end = mapper->end;
	/* The vdso is no file of a file system, so its path leads nowhere. */
	if (str_eq(claim.path, STR("[vdso]"))) {
		unwind_files_open_vdso(&tables->files, executable);
		return false;
	}
	executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
	return executable_cache_request(tables->executables, executable, &claim);
}

void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;

	table->requests++;
	table->is_needed = table->is_needed || mapper->is_needed;
	if (!is_due(table, mapper->is_needed, now_ns))
		return;
	if (!table->is_awaited) {
		table->requests = 1;
		table->is_needed = mapper->is_needed;
	}
	if (!table->has_file && !table->is_awaited)
		table->is_awaited = request_file(tables, executable, mapper);
	if (table->is_awaited && executable->is_requested)
		return;
	table->is_awaited = false;
	if (can_be_built(executable))
		add_wanted(tables, executable); /* without a file: from the cache on disk */
}

static bool is_more_urgent(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->is_needed != b->is_needed ? a->is_needed : a->requests > b->requests;
}

/* Of the owners that may request one more. NULL: there is none. */
static struct executable *find_most_urgent(const struct unwind_tables *tables)
{
	struct executable *most = NULL;

	for (size_t i = 0; i < tables->wanted.len; i++) {
		struct executable *at = tables->wanted.items[i];

		if ((!most || is_more_urgent(&at->unwind, &most->unwind)) &&
		    shares_has_room(&tables->requests, at->owner, 1))
			most = at;
	}
	return most;
}

static void request_some(struct unwind_tables *tables)
{
	struct executable *most;

	while (tables->requested < UNWIND_REQUESTS_MAX && (most = find_most_urgent(tables))) {
		struct unwind_table *table = &most->unwind;

		if (!tables->source.request(tables->source.self, most,
					    table->has_file ? table->fd : -1) ||
		    !shares_take(&tables->requests, most->owner, 1))
			return;
		tables->requested++;
		executable_set_remove(&tables->wanted, most);
		(void)unwind_files_remove(&tables->files, most); /* the source's now */
		table->state = UNWIND_TABLE_REQUESTED;
	}
}

static void fail(struct unwind_tables *tables, struct executable *executable, uint32_t outcome,
		 uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;

	log_debug("no unwind table", "build_id=%s path=\"%s\" reason=%s", executable->build_id,
		  executable->path, unwind_outcome_names[outcome]);
	tables->changed = true;
	if (is_transient[outcome]) {
		unsigned int longer = table->tries < 5 ? table->tries++ : 5;

		table->state = UNWIND_TABLE_NONE;
		table->retry_ns = now_ns + ((uint64_t)UNWIND_RETRY_MS << longer) * NS_PER_MS;
		executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
	} else {
		table->state = UNWIND_TABLE_FAILED;
	}
}

static void receive_responses(struct unwind_tables *tables, uint64_t now_ns)
{
	struct unwind_table_response response;

	while (tables->source.receive(tables->source.self, &response)) {
		struct executable *executable = executable_cache_find(
			tables->executables, str_from(response.own_id), response.number);

		tables->requested--;
		tables->outcomes[response.outcome]++;
		if (!executable || executable->unwind.state != UNWIND_TABLE_REQUESTED) {
			if (response.fd >= 0)
				close(response.fd);
			continue;
		}
		shares_release(&tables->requests, executable->owner, 1);
		if (response.fd < 0) {
			fail(tables, executable, response.outcome, now_ns);
			continue;
		}
		executable->unwind.state = UNWIND_TABLE_FETCHED;
		executable->unwind.fd = response.fd;
		executable->unwind.pages = response.pages;
		executable_set_add(&tables->fetched, executable);
	}
}

static bool is_evictable(const struct unwind_tables *tables, const struct executable *executable,
			 uint64_t held, uint64_t now_ns)
{
	uint64_t sampled_ns = executable->sampled_ns;

	return !sampled_ns || now_ns >= sampled_ns + UNWIND_KEPT_MS * NS_PER_MS ||
	       shares_held_by(&tables->owners, executable->owner) > held;
}

/* Never sampled first, then the least recently sampled. */
static bool is_evicted_before(const struct executable *a, const struct executable *b)
{
	return a->sampled_ns != b->sampled_ns ? a->sampled_ns < b->sampled_ns
					      : a->unwind.loaded_ns < b->unwind.loaded_ns;
}

/* NULL: all tables are in use. */
static struct executable *find_oldest(const struct unwind_tables *tables, uint64_t held,
				      uint64_t now_ns)
{
	struct executable *oldest = NULL;

	for (size_t i = 0; i < tables->loaded.len; i++) {
		struct executable *at = tables->loaded.items[i];

		if (is_evictable(tables, at, held, now_ns) &&
		    (!oldest || is_evicted_before(at, oldest)))
			oldest = at;
	}
	return oldest;
}

bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t held,
			     uint64_t now_ns)
{
	uint64_t all = 0, freed = 0;

	for (size_t i = 0; i < tables->loaded.len; i++)
		if (is_evictable(tables, tables->loaded.items[i], held, now_ns))
			all += tables->loaded.items[i]->unwind.pages;
	if (all < pages)
		return false;
	while (freed < pages) {
		struct executable *oldest = find_oldest(tables, held, now_ns);

		if (!oldest)
			break;
		freed += oldest->unwind.pages;
		tables->evictions++;
		unload(tables, oldest);
		log_debug("unwind table evicted", "build_id=%s", oldest->build_id);
		executable_offer_again(oldest, EXECUTABLE_SINK_UNWIND);
	}
	return true;
}

/*
 * There is no room for a table. It is requested again after UNWIND_KEPT_MS; a table that was only
 * wanted also as soon as it is needed.
 */
static void reject(struct unwind_tables *tables, struct executable *executable, uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;
	uint64_t then_ns = now_ns + UNWIND_KEPT_MS * NS_PER_MS;

	if (table->is_needed) {
		log_debug("no room for an unwind table", "build_id=%s path=\"%s\" pages=%" PRIu32,
			  executable->build_id, executable->path, table->pages);
		tables->refused[executable->owner.class_of]++;
		table->retry_ns = then_ns;
	} else {
		tables->skipped++;
		table->skip_until_ns = then_ns;
	}
	close(table->fd);
	table->state = UNWIND_TABLE_NONE;
	tables->changed = true;
	executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
}

static void load_pages(struct unwind_tables *tables, struct executable *executable, uint32_t page,
		       uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;
	struct err err;

	if (!unwind_store_read(tables->store, page, table->pages, table->fd,
			       sizeof(struct unwind_file_header), &err)) {
		log_warn("unwind table not loaded", "build_id=%s error=\"%s\"",
			 executable->build_id, err.msg);
		unwind_store_release(tables->store, page, table->pages);
		reject(tables, executable, now_ns);
		return;
	}
	close(table->fd);
	table->page = page;
	table->loaded_ns = now_ns;
	table->state = UNWIND_TABLE_LOADED;
	tables->loads++;
	tables->pages += table->pages;
	(void)!shares_take(&tables->owners, executable->owner, table->pages);
	tables->changed = true;
	executable_set_add(&tables->loaded, executable);
	log_debug("unwind table loaded", "build_id=%s path=\"%s\" page=%" PRIu32 " pages=%" PRIu32,
		  executable->build_id, executable->path, page, table->pages);
}

enum fit { FIT_LOADED, FIT_WAITS, FIT_REJECTED };

static enum fit load(struct unwind_tables *tables, struct executable *executable, uint64_t now_ns)
{
	uint32_t pages = executable->unwind.pages;
	uint64_t held = shares_held_by(&tables->owners, executable->owner) + pages;
	uint32_t page = unwind_store_alloc(tables->store, pages);

	if (page) {
		load_pages(tables, executable, page, now_ns);
		return FIT_LOADED;
	}
	if (executable->unwind.is_needed && unwind_store_can_ever_fit(tables->store, pages) &&
	    (tables->has_quarantined || unwind_tables_make_room(tables, pages, held, now_ns)))
		return FIT_WAITS;
	reject(tables, executable, now_ns);
	return FIT_REJECTED;
}

/*
 * First come, first served. Pages of evicted tables are quarantined before they are free. Until
 * then no later table may take free pages, or a table that needs many pages would wait for ever.
 */
static void load_some(struct unwind_tables *tables, uint64_t now_ns)
{
	uint64_t done = 0;
	size_t i = 0;

	while (i < tables->fetched.len && done < UNWIND_LOAD_PAGES_MAX) {
		struct executable *executable = tables->fetched.items[i];

		done += executable->unwind.pages;
		if (load(tables, executable, now_ns) == FIT_WAITS)
			break;
		i++;
	}
	if (!i)
		return;
	tables->fetched.len -= i;
	memmove(tables->fetched.items, tables->fetched.items + i,
		tables->fetched.len * sizeof(struct executable *));
}

void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns)
{
	tables->has_quarantined = unwind_store_has_quarantined(tables->store);
	receive_responses(tables, now_ns);
	load_some(tables, now_ns);
	request_some(tables);
}

void unwind_tables_close_unmapped(struct unwind_tables *tables)
{
	unwind_files_close_unmapped(&tables->files);
}

void unwind_tables_done(struct unwind_tables *tables)
{
	for (size_t i = 0; i < tables->fetched.len; i++)
		close(tables->fetched.items[i]->unwind.fd);
	unwind_files_done(&tables->files);
	shares_done(&tables->requests);
	shares_done(&tables->owners);
	free(tables->fetched.items);
	free(tables->wanted.items);
	free(tables->loaded.items);
	*tables = (struct unwind_tables){ 0 };
}
