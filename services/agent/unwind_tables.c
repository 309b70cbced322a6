#include "unwind_tables.h"

#include "agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "executable_file.h"
#include "heap.h"
#include "object/unwind_format.h"

#include <fcntl.h>
#include <inttypes.h>

const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT] = {
	[UNWIND_BUILT] = "built",
	[UNWIND_NO_ROWS] = "no_rows",
	[UNWIND_MALFORMED] = "malformed",
	[UNWIND_TOO_LARGE] = "too_large",
	[UNWIND_WRONG_MACHINE] = "wrong_machine",
	[UNWIND_IO] = "io",
	[UNWIND_UNREADABLE] = "unreadable",
	[UNWIND_CHANGED] = "changed",
	[UNWIND_CRASHED] = "crashed",
	[UNWIND_TIMED_OUT] = "timed_out",
};

/* What may be otherwise the next time, and not only for another file. */
static const bool is_passing[UNWIND_OUTCOME_COUNT] = {
	[UNWIND_IO] = true, [UNWIND_UNREADABLE] = true, [UNWIND_CHANGED] = true
};

static void set_add(struct executable_set *set, struct executable *executable)
{
	if (set->len == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 32;
		set->items = heap_resize(set->items, set->cap, sizeof(struct executable *));
	}
	set->items[set->len++] = executable;
}

static void set_remove(struct executable_set *set, const struct executable *executable)
{
	for (size_t i = 0; i < set->len; i++)
		if (set->items[i] == executable) {
			set->items[i] = set->items[--set->len];
			return;
		}
}

void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables, const struct unwind_source *source)
{
	*tables = (struct unwind_tables){ .store = store,
					  .executables = executables,
					  .source = *source };
}

static void close_file(struct unwind_tables *tables, struct executable *executable)
{
	struct unwind_table *table = &executable->unwind;

	if (!table->is_held)
		return;
	close(table->fd);
	table->is_held = false;
	set_remove(&tables->held, executable);
}

/* It will be shown again when it is mapped the next time. */
static void let_go(struct unwind_tables *tables, struct executable *executable)
{
	close_file(tables, executable);
	executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
}

static void let_oldest_go(struct unwind_tables *tables)
{
	struct executable *oldest = NULL;

	for (size_t i = 0; i < tables->held.len; i++) {
		struct executable *at = tables->held.items[i];

		if (!oldest || at->unwind.held < oldest->unwind.held)
			oldest = at;
	}
	if (oldest)
		let_go(tables, oldest);
}

static void hold(struct unwind_tables *tables, struct executable *executable, int fd)
{
	if (tables->held.len >= UNWIND_FILES_HELD_MAX)
		let_oldest_go(tables);
	executable->unwind.fd = fd;
	executable->unwind.is_held = true;
	executable->unwind.held = ++tables->opened;
	set_add(&tables->held, executable);
}

static bool sink_offer(void *self, struct executable *executable,
		       const struct executable_claim *claim, int fd)
{
	struct unwind_tables *tables = self;
	struct unwind_table *table = &executable->unwind;

	(void)claim;
	if (table->is_held || (table->state != UNWIND_TABLE_NONE))
		return true;

	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return false;
	hold(tables, executable, copy);
	return true;
}

static void unload(struct unwind_tables *tables, struct executable *executable)
{
	struct unwind_table *table = &executable->unwind;

	unwind_store_give(tables->store, table->page, table->pages);
	tables->pages -= table->pages;
	tables->changed = tables->is_awaiting = true;
	table->page = 0;
	table->state = UNWIND_TABLE_NONE;
	set_remove(&tables->loaded, executable);
}

static void sink_forget(void *self, struct executable *executable)
{
	struct unwind_tables *tables = self;
	struct unwind_table *table = &executable->unwind;

	close_file(tables, executable);
	switch (table->state) {
	case UNWIND_TABLE_WANTED:
		set_remove(&tables->wanted, executable);
		break;
	case UNWIND_TABLE_THERE:
		set_remove(&tables->there, executable);
		close(table->fd);
		break;
	case UNWIND_TABLE_LOADED:
		unload(tables, executable);
		break;
	case UNWIND_TABLE_NONE:
	case UNWIND_TABLE_ASKED: /* its answer will find nobody */
	case UNWIND_TABLE_FAILED:
		break;
	}
}

struct executable_sink unwind_tables_sink(struct unwind_tables *tables)
{
	return (struct executable_sink){ .offer = sink_offer,
					 .forget = sink_forget,
					 .self = tables };
}

/* Of a build id as text; none of a htlhash. */
static str bytes_of(const char *hex, char to[BUILD_ID_BYTES_MAX])
{
	uint64_t byte;
	size_t len = 0;

	for (; len < BUILD_ID_BYTES_MAX && hex[0] && hex[1]; hex += 2) {
		if (!str_hex_to_u64((str){ hex, 2 }, &byte))
			return (str){ 0 };
		to[len++] = (char)byte;
	}
	return (str){ to, len };
}

/* It left the files that are held, or was never among them. */
static void open_again(struct unwind_tables *tables, struct executable *executable,
		       const struct unwind_mapper *mapper)
{
	char build_id[BUILD_ID_BYTES_MAX];
	struct executable_claim claim = { .pid = mapper->pid,
					  .parent_pid = mapper->parent_pid,
					  .start = mapper->start,
					  .end = mapper->end,
					  .path = str_from(executable->path),
					  .build_id = bytes_of(executable->build_id, build_id) };
	struct stat stat;

	int fd = executable_file_open(&claim, &stat);

	if (fd >= 0)
		hold(tables, executable, fd);
}

void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;

	if (table->state == UNWIND_TABLE_WANTED)
		table->wants++;
	if (table->state != UNWIND_TABLE_NONE || now_ns < table->retry_ns ||
	    !executable->build_id[0] || !executable->segment_count)
		return;
	if (!table->is_held)
		open_again(tables, executable, mapper);
	table->state = UNWIND_TABLE_WANTED;
	table->wants = 1;
	set_add(&tables->wanted, executable);
}

static void ask_some(struct unwind_tables *tables)
{
	while (tables->wanted.len && tables->asked < UNWIND_ASKED_MAX) {
		struct executable *most = tables->wanted.items[0];

		for (size_t i = 1; i < tables->wanted.len; i++)
			if (tables->wanted.items[i]->unwind.wants > most->unwind.wants)
				most = tables->wanted.items[i];

		struct unwind_table *table = &most->unwind;

		if (!tables->source.ask(tables->source.self, most->build_id,
					table->is_held ? table->fd : -1))
			return;
		tables->asked++;
		set_remove(&tables->wanted, most);
		if (table->is_held)
			set_remove(&tables->held, most);
		table->is_held = false; /* the source's now */
		table->state = UNWIND_TABLE_ASKED;
	}
}

static void fail(struct unwind_tables *tables, struct executable *executable, uint32_t outcome,
		 uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;

	log_debug("no unwind table", "build_id=%s path=\"%s\" reason=%s", executable->build_id,
		  executable->path, unwind_outcome_names[outcome]);
	if (is_passing[outcome]) {
		unsigned int longer = table->tries < 5 ? table->tries++ : 5;

		table->state = UNWIND_TABLE_NONE;
		table->retry_ns = now_ns + ((uint64_t)UNWIND_RETRY_MS << longer) * NS_PER_MS;
		let_go(tables, executable);
	} else {
		table->state = UNWIND_TABLE_FAILED;
	}
}

static void take_answers(struct unwind_tables *tables, uint64_t now_ns)
{
	struct unwind_answer answer;

	while (tables->source.answer(tables->source.self, &answer)) {
		struct executable *executable =
			executable_cache_find(tables->executables, str_from(answer.build_id));

		tables->asked--;
		tables->outcomes[answer.outcome]++;
		if (!executable || executable->unwind.state != UNWIND_TABLE_ASKED) {
			if (answer.fd >= 0)
				close(answer.fd);
			continue;
		}
		if (answer.fd < 0) {
			fail(tables, executable, answer.outcome, now_ns);
			continue;
		}
		executable->unwind.state = UNWIND_TABLE_THERE;
		executable->unwind.fd = answer.fd;
		executable->unwind.pages = answer.pages;
		set_add(&tables->there, executable);
	}
}

static uint64_t used_ns(const struct executable *executable)
{
	uint64_t loaded_ns = executable->unwind.loaded_ns;

	return executable->sampled_ns > loaded_ns ? executable->sampled_ns : loaded_ns;
}

static bool may_leave(const struct executable *executable, uint64_t now_ns)
{
	return now_ns >= used_ns(executable) + UNWIND_KEPT_MS * NS_PER_MS;
}

/* NULL: all are in use. */
static struct executable *find_oldest(const struct unwind_tables *tables, uint64_t now_ns)
{
	struct executable *oldest = NULL;

	for (size_t i = 0; i < tables->loaded.len; i++) {
		struct executable *at = tables->loaded.items[i];

		if (may_leave(at, now_ns) && (!oldest || used_ns(at) < used_ns(oldest)))
			oldest = at;
	}
	return oldest;
}

bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t now_ns)
{
	uint64_t all = 0, freed = 0;

	for (size_t i = 0; i < tables->loaded.len; i++)
		if (may_leave(tables->loaded.items[i], now_ns))
			all += tables->loaded.items[i]->unwind.pages;
	if (all < pages)
		return false;
	while (freed < pages) {
		struct executable *oldest = find_oldest(tables, now_ns);

		if (!oldest)
			break;
		freed += oldest->unwind.pages;
		tables->evictions++;
		unload(tables, oldest);
		executable_offer_again(oldest, EXECUTABLE_SINK_UNWIND);
	}
	return true;
}

static void refuse(struct unwind_tables *tables, struct executable *executable, uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;

	tables->refused++;
	log_debug("no room for an unwind table", "build_id=%s path=\"%s\" pages=%" PRIu32,
		  executable->build_id, executable->path, table->pages);
	close(table->fd);
	table->state = UNWIND_TABLE_NONE;
	table->retry_ns = now_ns + UNWIND_RETRY_MS * NS_PER_MS;
	executable_offer_again(executable, EXECUTABLE_SINK_UNWIND);
}

static void put(struct unwind_tables *tables, struct executable *executable, uint32_t page,
		uint64_t now_ns)
{
	struct unwind_table *table = &executable->unwind;
	struct err err;

	if (!unwind_store_read(tables->store, page, table->pages, table->fd,
			       sizeof(struct unwind_file_header), &err)) {
		log_warn("an unwind table was not loaded", "build_id=%s error=\"%s\"",
			 executable->build_id, err.msg);
		unwind_store_give(tables->store, page, table->pages);
		refuse(tables, executable, now_ns);
		return;
	}
	close(table->fd);
	table->page = page;
	table->loaded_ns = now_ns;
	table->state = UNWIND_TABLE_LOADED;
	tables->loads++;
	tables->pages += table->pages;
	tables->changed = true;
	set_add(&tables->loaded, executable);
}

/* What leaves rests before its pages are free: until then what needs them waits. */
static void load_some(struct unwind_tables *tables, uint64_t now_ns)
{
	uint64_t left = UNWIND_LOAD_PAGES_MAX;

	for (size_t i = 0; i < tables->there.len;) {
		struct executable *executable = tables->there.items[i];
		uint32_t pages = executable->unwind.pages;
		bool waits = left < UNWIND_LOAD_PAGES_MAX && pages > left;
		uint32_t page = waits ? 0 : unwind_store_take(tables->store, pages);

		if (page) {
			left = pages < left ? left - pages : 0;
			set_remove(&tables->there, executable);
			put(tables, executable, page, now_ns);
		} else if (waits) {
			i++;
		} else if (!unwind_store_could_hold(tables->store, pages) ||
			   (!tables->is_awaiting &&
			    !unwind_tables_make_room(tables, pages, now_ns))) {
			set_remove(&tables->there, executable);
			refuse(tables, executable, now_ns);
		} else {
			i++;
		}
	}
}

void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns)
{
	tables->is_awaiting = unwind_store_is_resting(tables->store);
	take_answers(tables, now_ns);
	load_some(tables, now_ns);
	ask_some(tables);
}

void unwind_tables_let_go(struct unwind_tables *tables)
{
	for (size_t i = tables->held.len; i > 0; i--) {
		struct executable *executable = tables->held.items[i - 1];

		if (!executable->references && executable->unwind.state == UNWIND_TABLE_NONE)
			let_go(tables, executable);
	}
}

void unwind_tables_done(struct unwind_tables *tables)
{
	while (tables->held.len)
		close_file(tables, tables->held.items[0]);
	for (size_t i = 0; i < tables->there.len; i++)
		close(tables->there.items[i]->unwind.fd);
	free(tables->held.items);
	free(tables->there.items);
	free(tables->wanted.items);
	free(tables->loaded.items);
	*tables = (struct unwind_tables){ 0 };
}
