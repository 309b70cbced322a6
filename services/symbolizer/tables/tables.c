// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/tables/tables.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/metrics/metrics.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbolizer/tables/table_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#define DROP_REASONS(ROW)         \
	ROW(EVICTED, "evicted")   \
	ROW(OUTDATED, "outdated") \
	ROW(CORRUPT, "corrupt")

enum drop_reason { DROP_REASONS(NAMED_CONSTANT) DROPS };
static const char *const drop_names[DROPS] = { DROP_REASONS(NAMED_TEXT) };

#define TABLES_METRICS(ROW)                                                                     \
	ROW(dropped, METRIC_COUNTER, "decima_symbolizer_tables_dropped_total",                  \
	    "Tables removed, by reason: evicted for space, replaced by a newer generation, or " \
	    "corrupt on disk.",                                                                 \
	    METRIC_LABEL("reason", drop_names, DROPS))                                          \
	ROW(table_bytes, METRIC_GAUGE, "decima_symbolizer_table_bytes",                         \
	    "Disk space used by symbol tables.")                                                \
	ROW(build_ids, METRIC_GAUGE, "decima_symbolizer_build_ids",                             \
	    "Build ids with a table or a cached failure.")                                      \
	ROW(loaded, METRIC_COUNTER, "decima_symbolizer_tables_loaded_total",                    \
	    "Tables on disk that were mapped.")                                                 \
	ROW(split, METRIC_COUNTER, "decima_symbolizer_split_tables_total",                      \
	    "Tables with units of split DWARF (-gsplit-dwarf) whose package (.dwp) the debug "  \
	    "file does not contain: ELF symbols and lines, but no inlined calls.")

METRICS(tables_metrics, TABLES_METRICS);

struct table_entry {
	struct build_id id;
	TAILQ_ENTRY(table_entry) by_use;
	struct mapped_table *mapped; /* NULL: not mapped */
	struct table_file file;      /* size 0: no file */
	uint64_t refresh_ns;         /* when to look for a better file; 0: never */
	bool is_busy;                /* being mapped or built */
	enum name_reason reason;     /* NAME_KNOWN: no cached failure */
	uint64_t reason_generation, reason_until_ns;
};

/* ---- entries; called with the lock ---- */

static uint64_t hash_of(const struct build_id *id)
{
	return hash_seeded(str_from(id->text), hash_seed());
}

static bool has_id(const struct table_entry *entry, const struct build_id *id)
{
	return str_eq(str_from(entry->id.text), str_from(id->text));
}

static struct table_entry *entry_find(const struct tables *tables, const struct build_id *id)
{
	struct table_entry **found =
		index_find(&tables->entries, hash_of(id), each, has_id(each, id));

	return found ? *found : NULL;
}

static void entry_touch(struct tables *tables, struct table_entry *entry)
{
	TAILQ_REMOVE(&tables->by_use, entry, by_use);
	TAILQ_INSERT_HEAD(&tables->by_use, entry, by_use);
}

static void release(struct mapped_table *mapped)
{
	if (--mapped->references)
		return;
	symbol_table_close(&mapped->symbols);
	free(mapped);
}

/* Remove the entry's table. Other references to the mapping stay valid. */
static void drop_table(struct tables *tables, struct table_entry *entry, enum drop_reason why)
{
	if (entry->mapped)
		release(TAKE(entry->mapped));
	if (!entry->file.size)
		return;
	table_file_remove(tables->directory, &entry->id, &entry->file);
	tables->bytes -= entry->file.size;
	entry->file = (struct table_file){ 0 };
	metric_add_at(&dropped, why, 1);
}

static void entry_remove(struct tables *tables, struct table_entry *entry)
{
	drop_table(tables, entry, EVICTED);
	index_remove(&tables->entries,
		     index_find(&tables->entries, hash_of(&entry->id), each, each == entry));
	TAILQ_REMOVE(&tables->by_use, entry, by_use);
	free(entry);
}

/* Evict the least recently used entries, but never the newest one. */
static void evict(struct tables *tables)
{
	struct table_entry *entry = TAILQ_LAST(&tables->by_use, entries_by_use);
	bool is_full = tables->bytes > tables->max_bytes || tables->entries.len > TABLES_MAX;
	uint64_t keep_bytes = tables->max_bytes / 100 * KEEP_TABLES_PERCENT;
	size_t keep_count = (size_t)TABLES_MAX / 100 * KEEP_TABLES_PERCENT;

	while (is_full && entry && entry != TAILQ_FIRST(&tables->by_use) &&
	       (tables->bytes > keep_bytes || tables->entries.len > keep_count)) {
		struct table_entry *next = TAILQ_PREV(entry, entries_by_use, by_use);
		bool helps = tables->entries.len > keep_count || entry->file.size;

		if (helps && !entry->is_busy)
			entry_remove(tables, entry);
		entry = next;
	}
	metric_set(&table_bytes, (int64_t)tables->bytes);
	metric_set(&build_ids, (int64_t)tables->entries.len);
}

static struct table_entry *entry_get(struct tables *tables, const struct build_id *id)
{
	struct table_entry *entry = entry_find(tables, id);

	if (entry)
		return entry;
	entry = heap_new(struct table_entry);
	entry->id = *id;
	*index_at(NULL, &tables->entries, hash_of(id), each, each == entry) = entry;
	TAILQ_INSERT_HEAD(&tables->by_use, entry, by_use);
	evict(tables);
	return entry;
}

static void set_file(struct tables *tables, struct table_entry *entry,
		     const struct table_file *file)
{
	entry->file = *file;
	entry->refresh_ns =
		file->is_fallback ? clock_monotonic_ns() + FALLBACK_REFRESH_SECONDS * NS_PER_SECOND
				  : 0;
	tables->bytes += file->size;
}

static void notify(struct tables *tables)
{
	tables->changes++;
	pthread_cond_broadcast(&tables->changed);
}

/* ---- open and close ---- */

static void add_from_disk(void *self, const struct build_id *id, const struct table_file *file)
{
	struct tables *tables = self;
	struct table_entry *entry = entry_get(tables, id);

	if (entry->file.size && table_file_is_better(&entry->file, file)) {
		table_file_remove(tables->directory, id, file);
		return;
	}
	drop_table(tables, entry, OUTDATED);
	set_file(tables, entry, file);
}

bool tables_open(struct tables *tables, const char *directory, uint64_t max_bytes, struct err *err)
{
	*tables = (struct tables){
		.root = -1, .directory = -1, .lock_file = -1, .max_bytes = max_bytes
	};
	if (!table_files_open(directory, &tables->root, &tables->directory, &tables->lock_file,
			      err))
		return false;
	TAILQ_INIT(&tables->by_use);
	pthread_mutex_init(&tables->lock, NULL);
	pthread_cond_init(&tables->changed, NULL);
	table_files_each(tables->directory, add_from_disk, tables);
	evict(tables);
	return true;
}

void tables_close(struct tables *tables)
{
	if (!tables->by_use.tqh_last) /* not open */
		return;
	index_for_each(&tables->entries, entry) {
		if ((*entry)->mapped)
			release((*entry)->mapped);
		free(*entry);
	}
	index_done(&tables->entries);
	close(tables->directory);
	close(tables->root);
	close(tables->lock_file);
	pthread_cond_destroy(&tables->changed);
	pthread_mutex_destroy(&tables->lock);
	tables->by_use.tqh_last = NULL;
}

/* ---- lookup ---- */

static bool file_matches(const struct table_entry *entry, uint64_t generation)
{
	/* Generation 0: the server evicted the file, but its table is still correct. */
	return entry->file.size && (generation == GENERATION_UNKNOWN || generation == 0 ||
				    generation == entry->file.generation);
}

/* Called without the lock. NULL: the file is corrupt. */
static struct mapped_table *map_file(int fd, const struct table_file *file, struct err *err)
{
	struct mapped_table *mapped = heap_new(struct mapped_table);

	mapped->generation = file->generation;
	mapped->is_fallback = file->is_fallback;
	mapped->references = 1;
	if (symbol_table_open(&mapped->symbols, fd, err))
		return mapped;
	free(mapped);
	return NULL;
}

/* Map the table file. The lock is released meanwhile. */
static void load(struct tables *tables, struct table_entry *entry)
{
	struct table_file file = entry->file;
	struct mapped_table *mapped = NULL;
	struct err err = { 0 };

	entry->is_busy = true;
	pthread_mutex_unlock(&tables->lock);
	{
		AUTO_FD fd = table_file_load(tables->directory, &entry->id, &file, &err);

		if (fd >= 0)
			mapped = map_file(fd, &file, &err);
	}
	pthread_mutex_lock(&tables->lock);
	entry->is_busy = false;
	entry->mapped = mapped;
	if (mapped) {
		metric_add(&loaded, 1);
	} else {
		log_warn("unusable table on disk", "build_id=%s error=\"%s\"", entry->id.text,
			 err.msg);
		drop_table(tables, entry, CORRUPT);
	}
	notify(tables);
}

struct table_lookup tables_lookup(struct tables *tables, const struct build_id *id,
				  uint64_t generation)
{
	struct table_lookup lookup = { .state = TABLE_MISSING };
	struct table_entry *entry;

	pthread_mutex_lock(&tables->lock);
	entry = entry_find(tables, id);
	if (entry && file_matches(entry, generation) && !entry->mapped && !entry->is_busy)
		load(tables, entry);
	if (entry) {
		uint64_t now_ns = clock_monotonic_ns();

		entry_touch(tables, entry);
		lookup.mapped = entry->mapped;
		if (lookup.mapped)
			lookup.mapped->references++;
		if (entry->mapped && file_matches(entry, generation)) {
			lookup.state = TABLE_READY;
			lookup.is_refresh_due =
				entry->refresh_ns && now_ns >= entry->refresh_ns && !entry->is_busy;
		} else if (entry->is_busy) {
			lookup.state = TABLE_BUILDING;
		} else if (entry->reason != NAME_KNOWN && now_ns < entry->reason_until_ns &&
			   (generation == GENERATION_UNKNOWN ||
			    generation == entry->reason_generation)) {
			lookup.state = TABLE_NEGATIVE;
			lookup.reason = entry->reason;
		}
	}
	pthread_mutex_unlock(&tables->lock);
	return lookup;
}

void tables_release(struct tables *tables, struct mapped_table *mapped)
{
	if (!mapped)
		return;
	pthread_mutex_lock(&tables->lock);
	release(mapped);
	pthread_mutex_unlock(&tables->lock);
}

/* ---- builds ---- */

bool tables_begin(struct tables *tables, const struct build_id *id)
{
	struct table_entry *entry;
	bool is_ours;

	pthread_mutex_lock(&tables->lock);
	entry = entry_get(tables, id);
	is_ours = !entry->is_busy;
	entry->is_busy = true;
	pthread_mutex_unlock(&tables->lock);
	return is_ours;
}

/* Map a new table and move it to its place. NULL: it is corrupt or cannot be stored. */
static struct mapped_table *install(struct tables *tables, const struct build_id *id,
				    const struct table_result *result, struct table_file *ret_file,
				    struct err *err)
{
	struct table_file file = { .generation = result->generation,
				   .is_fallback = result->is_fallback };
	AUTO_FD fd = openat(tables->root, result->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat)) {
		err_errno(err, "open a new table");
		return NULL;
	}
	file.size = (uint64_t)stat.st_size;
	if (file.size > tables->max_bytes) {
		err_set(err, ERR_LIMIT, "a table of %ju bytes, --cache-max-bytes is %ju",
			(uintmax_t)file.size, (uintmax_t)tables->max_bytes);
		return NULL;
	}

	struct mapped_table *mapped = map_file(fd, &file, err);

	if (mapped &&
	    table_file_put(tables->root, tables->directory, result->file, id, &file, err)) {
		if (mapped->symbols.split_units) {
			metric_add(&split, 1);
			log_info("the debug file lacks the package of its split DWARF",
				 "build_id=%s units=%u", id->text, mapped->symbols.split_units);
		}
		*ret_file = file;
		return mapped;
	}
	if (mapped)
		release(mapped);
	return NULL;
}

/* Called with the lock: set the table of the entry. */
static void replace_table(struct tables *tables, struct table_entry *entry,
			  struct mapped_table *mapped, const struct table_file *file)
{
	if (entry->file.size && table_file_eq(&entry->file, file)) {
		/* the file itself has been replaced by a rename */
		tables->bytes -= entry->file.size;
		entry->file.size = 0;
	}
	drop_table(tables, entry, OUTDATED);
	set_file(tables, entry, file);
	entry->mapped = mapped;
}

static void note_reason(struct table_entry *entry, const struct table_result *result,
			enum name_reason reason)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t ttl_ns = result->ttl_ns ? result->ttl_ns : FAILED_SECONDS * NS_PER_SECOND;

	entry->reason = reason;
	entry->reason_generation = result->generation;
	entry->reason_until_ns = now_ns + ttl_ns;
	if (reason != NAME_KNOWN && entry->refresh_ns) /* no better file yet */
		entry->refresh_ns = now_ns + FALLBACK_REFRESH_SECONDS * NS_PER_SECOND;
}

bool tables_finish(struct tables *tables, const struct build_id *id,
		   const struct table_result *result, struct err *err)
{
	enum name_reason reason = result->reason;
	struct mapped_table *mapped = NULL;
	struct table_file file = { 0 };
	struct err why = { 0 };

	if (reason == NAME_KNOWN) {
		mapped = install(tables, id, result, &file, &why);
		if (!mapped)
			reason = why.code == ERR_LIMIT ? NAME_TOO_LARGE : NAME_UNAVAILABLE;
	}
	pthread_mutex_lock(&tables->lock);

	struct table_entry *entry = entry_get(tables, id);

	entry->is_busy = false;
	if (mapped)
		replace_table(tables, entry, mapped, &file);
	if (reason != NAME_PENDING) {
		note_reason(entry, result, reason);
		entry_touch(tables, entry);
	}
	evict(tables);
	notify(tables);
	pthread_mutex_unlock(&tables->lock);
	if (why.code != ERR_NONE)
		*err = why;
	return why.code == ERR_NONE;
}

uint64_t tables_changes(struct tables *tables)
{
	uint64_t changes;

	pthread_mutex_lock(&tables->lock);
	changes = tables->changes;
	pthread_mutex_unlock(&tables->lock);
	return changes;
}

bool tables_wait(struct tables *tables, uint64_t changes, uint64_t deadline_ns)
{
	bool is_timely = true;

	pthread_mutex_lock(&tables->lock);
	while (tables->changes == changes && is_timely)
		is_timely = cond_wait(&tables->changed, &tables->lock, deadline_ns);
	is_timely = tables->changes != changes;
	pthread_mutex_unlock(&tables->lock);
	return is_timely;
}
