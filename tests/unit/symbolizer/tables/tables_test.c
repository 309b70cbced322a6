// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "server/metrics/metrics.h"
#include "support/scratch.h"
#include "support/test.h"
#include "symbolizer/tables/tables.h"
#include "symbols/symbol_build.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct scratch scratch;

static struct build_id id_of(const char *text)
{
	struct build_id id;
	struct err err;

	assert_true(build_id_parse(str_from(text), &id, &err));
	return id;
}

/* Build a table, as a worker does. Returns its length. */
static uint64_t build_table_of(const char *program)
{
	char path[128];
	struct stat stat;
	struct err err = { 0 };
	AUTO_FD elf = open(program, O_RDONLY | O_CLOEXEC);

	snprintf(path, sizeof(path), "%s/work/table", scratch.path);

	AUTO_FD out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (!symbol_build(&(struct symbol_build_options){ 0 }, elf, out, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(fstat(out, &stat), 0);
	return (uint64_t)stat.st_size;
}

static uint64_t build_table(void)
{
	return build_table_of("/proc/self/exe");
}

static uint64_t put_table(struct tables *tables, const char *text, uint64_t generation,
			  uint64_t len)
{
	struct build_id id = id_of(text);
	struct table_result result = { .reason = NAME_KNOWN,
				       .generation = generation,
				       .file = "work/table" };
	struct err err = { 0 };

	assert_true(tables_begin(tables, &id));
	if (!tables_finish(tables, &id, &result, &err))
		fail_msg("%s", err.msg);
	return len;
}

static uint64_t put(struct tables *tables, const char *text, uint64_t generation)
{
	return put_table(tables, text, generation, build_table());
}

static enum table_state state_of(struct tables *tables, const char *text, uint64_t generation)
{
	struct build_id id = id_of(text);
	struct table_lookup lookup = tables_lookup(tables, &id, generation);

	tables_release(tables, lookup.mapped);
	return lookup.state;
}

static void open_tables(struct tables *tables, uint64_t max_bytes)
{
	struct err err = { 0 };

	if (!tables_open(tables, scratch.path, max_bytes, &err))
		fail_msg("%s", err.msg);
}

static void a_table_is_valid_for_its_generation_and_an_unknown_one(void **state)
{
	struct tables tables;

	(void)state;
	open_tables(&tables, 1 << 30);
	assert_int_equal(state_of(&tables, "c0ffee00", 7), TABLE_MISSING);
	put(&tables, "c0ffee00", 7);
	assert_int_equal(state_of(&tables, "c0ffee00", 7), TABLE_READY);
	assert_int_equal(state_of(&tables, "c0ffee00", GENERATION_UNKNOWN), TABLE_READY);
	assert_int_equal(state_of(&tables, "c0ffee00", 0), TABLE_READY);
	assert_int_equal(state_of(&tables, "c0ffee00", 8), TABLE_MISSING);
	assert_int_equal(state_of(&tables, "c0ffee01", 7), TABLE_MISSING);
	tables_close(&tables);
}

static void a_looked_up_table_stays_mapped_when_a_newer_one_is_stored(void **state)
{
	struct build_id id = id_of("c0ffee00");
	struct symbol_line lines[SYMBOL_LINES_MAX];
	struct table_lookup lookup;
	struct tables tables;

	(void)state;
	open_tables(&tables, 1 << 30);
	put(&tables, "c0ffee00", 7);
	lookup = tables_lookup(&tables, &id, 7);
	put(&tables, "c0ffee00", 8);
	assert_int_equal(lookup.mapped->generation, 7);
	assert_true(lookup.mapped->symbols.row_count > 10);
	(void)symbol_table_find(&lookup.mapped->symbols, 4096, lines); /* it is still mapped */
	tables_release(&tables, lookup.mapped);
	assert_int_equal(state_of(&tables, "c0ffee00", 7), TABLE_MISSING);
	assert_int_equal(state_of(&tables, "c0ffee00", 8), TABLE_READY);
	tables_close(&tables);
}

static void one_caller_builds_and_the_others_wait(void **state)
{
	struct build_id id = id_of("c0ffee00");
	struct table_result nothing = { .reason = NAME_NO_DEBUG_INFO,
					.generation = 5,
					.ttl_ns = 3600 * NS_PER_SECOND };
	struct tables tables;
	uint64_t changes;
	struct err err;

	(void)state;
	open_tables(&tables, 1 << 30);
	assert_true(tables_begin(&tables, &id));
	assert_false(tables_begin(&tables, &id));
	assert_int_equal(state_of(&tables, "c0ffee00", 5), TABLE_BUILDING);
	changes = tables_changes(&tables);
	assert_false(tables_wait(&tables, changes, clock_monotonic_ns() + NS_PER_MS));
	assert_true(tables_finish(&tables, &id, &nothing, &err));
	assert_true(tables_wait(&tables, changes, clock_monotonic_ns()));
	assert_int_equal(tables_lookup(&tables, &id, 5).reason, NAME_NO_DEBUG_INFO);
	assert_int_equal(state_of(&tables, "c0ffee00", 6), TABLE_MISSING); /* another generation */
	tables_close(&tables);
}

static void tables_survive_a_restart_and_corrupt_ones_are_removed(void **state)
{
	struct tables tables;
	char path[128];

	(void)state;
	open_tables(&tables, 1 << 30);
	put(&tables, "c0ffee00", 7);
	put(&tables, "c0ffee01", 7);
	tables_close(&tables);
	snprintf(path, sizeof(path), "%s/tables/c0ffee01-7.table", scratch.path);
	assert_int_equal(truncate(path, 100), 0);

	open_tables(&tables, 1 << 30);
	assert_int_equal(state_of(&tables, "c0ffee00", 7), TABLE_READY);
	assert_int_equal(state_of(&tables, "c0ffee01", 7), TABLE_MISSING);
	snprintf(path, sizeof(path), "%s/tables/c0ffee01-7.table", scratch.path);
	assert_int_equal(access(path, F_OK), -1);
	tables_close(&tables);
}

static void touch(const char *name, time_t used)
{
	const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
	char path[128];

	snprintf(path, sizeof(path), "%s/tables/%s", scratch.path, name);

	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	assert_int_equal(write(fd, "table", 5), 5);
	assert_int_equal(futimens(fd, times), 0);
}

/* A crash between the rename of a new table and the removal of the old one. */
static void of_two_tables_the_better_one_is_kept_whichever_was_used_last(void **state)
{
	static const struct {
		const char *better, *worse;
	} rows[] = { { "c0ffee00-8.table", "c0ffee00-7.table" },
		     { "c0ffee00-7.table", "c0ffee00-7.second" },
		     { "c0ffee00-8.second", "c0ffee00-7.table" } };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const char *better = rows[i / 2].better, *worse = rows[i / 2].worse;
		struct tables tables;
		char path[128];

		open_tables(&tables, 1 << 30);
		tables_close(&tables);
		touch(better, 1000);
		touch(worse, i % 2 ? 999 : 1001);
		open_tables(&tables, 1 << 30);
		assert_int_equal(tables.bytes, 5);
		tables_close(&tables);
		snprintf(path, sizeof(path), "%s/tables/%s", scratch.path, worse);
		assert_int_equal(access(path, F_OK), -1);
		snprintf(path, sizeof(path), "%s/tables/%s", scratch.path, better);
		assert_int_equal(unlink(path), 0);
	}
}

static void evicts_the_least_recently_used_beyond_the_maximum(void **state)
{
	uint64_t len;
	struct tables tables;

	(void)state;
	open_tables(&tables, 1 << 30);
	len = build_table();
	tables_close(&tables);
	open_tables(&tables, 3 * len + len / 2);
	put(&tables, "c0ffee00", 1);
	put(&tables, "c0ffee01", 1);
	put(&tables, "c0ffee02", 1);
	assert_int_equal(state_of(&tables, "c0ffee00", 1),
			 TABLE_READY); /* used: 01 is the oldest */
	put(&tables, "c0ffee03", 1);
	assert_int_equal(state_of(&tables, "c0ffee01", 1), TABLE_MISSING);
	assert_int_equal(state_of(&tables, "c0ffee00", 1), TABLE_READY);
	assert_int_equal(state_of(&tables, "c0ffee03", 1), TABLE_READY);
	assert_true(tables.bytes <= 3 * len + len / 2);
	tables_close(&tables);
	open_tables(&tables, len + len / 2); /* a smaller maximum */
	assert_true(tables.bytes <= len + len / 2);
	tables_close(&tables);
}

static void a_table_larger_than_the_maximum_is_not_stored(void **state)
{
	struct build_id id = id_of("c0ffee00");
	struct table_result result = { .reason = NAME_KNOWN,
				       .generation = 1,
				       .file = "work/table" };
	struct tables tables;
	struct err err;

	(void)state;
	open_tables(&tables, 100);
	build_table();
	assert_true(tables_begin(&tables, &id));
	assert_false(tables_finish(&tables, &id, &result, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(tables_lookup(&tables, &id, 1).reason, NAME_TOO_LARGE);
	tables_close(&tables);
}

static void a_directory_belongs_to_one_process(void **state)
{
	struct tables tables, others;
	struct err err;

	(void)state;
	open_tables(&tables, 1 << 30);
	assert_false(tables_open(&others, scratch.path, 1 << 30, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.msg, "another process"));
	tables_close(&tables);
}

/* The worker died, or its disk was full. */
static void a_missing_table_is_an_error_and_can_be_built_again(void **state)
{
	struct build_id id = id_of("c0ffee00");
	struct table_result result = { .reason = NAME_KNOWN, .generation = 1, .file = "work/none" };
	struct tables tables = { 0 };
	struct err err;

	(void)state;
	tables_close(&tables); /* never opened */
	open_tables(&tables, 1 << 30);
	assert_true(tables_begin(&tables, &id));
	assert_false(tables_finish(&tables, &id, &result, &err));
	assert_non_null(strstr(err.msg, "open a new table"));
	assert_true(tables_begin(&tables, &id));
	tables_close(&tables);
}

static void the_same_generation_replaces_itself(void **state)
{
	struct tables tables;

	(void)state;
	open_tables(&tables, 1 << 30);

	uint64_t len = put(&tables, "c0ffee00", 7);

	put(&tables, "c0ffee00", 7);
	assert_int_equal(state_of(&tables, "c0ffee00", 7), TABLE_READY);
	assert_int_equal(tables.bytes, len);
	tables_close(&tables);
}

static const struct metric *split_tables_metric(void)
{
	for (size_t i = 0; tables_metrics[i]; i++)
		if (strcmp(tables_metrics[i]->name, "decima_symbolizer_split_tables_total") == 0)
			return tables_metrics[i];
	fail_msg("no metric counts tables of programs with split DWARF");
	return NULL;
}

static void tables_of_programs_with_split_dwarf_are_counted(void **state)
{
	const struct metric *split = split_tables_metric();
	int64_t before = metric_get(split);
	struct tables tables;

	(void)state;
	open_tables(&tables, 1 << 30);
	put_table(&tables, "c0ffee00", 7, build_table_of(CORPUS "/symbol_build/split4"));
	assert_int_equal(metric_get(split), before + 1);
	put_table(&tables, "c0ffee01", 7, build_table_of(CORPUS "/symbol_build/v5"));
	assert_int_equal(metric_get(split), before + 1);
	tables_close(&tables);
}

static int begin(void **state)
{
	(void)state;
	scratch = scratch_make();
	return 0;
}

static int end(void **state)
{
	(void)state;
	scratch_remove(&scratch);
	return 0;
}

#define OWN(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN(a_table_is_valid_for_its_generation_and_an_unknown_one),
		OWN(a_looked_up_table_stays_mapped_when_a_newer_one_is_stored),
		OWN(one_caller_builds_and_the_others_wait),
		OWN(tables_survive_a_restart_and_corrupt_ones_are_removed),
		OWN(of_two_tables_the_better_one_is_kept_whichever_was_used_last),
		OWN(evicts_the_least_recently_used_beyond_the_maximum),
		OWN(a_table_larger_than_the_maximum_is_not_stored),
		OWN(a_directory_belongs_to_one_process),
		OWN(a_missing_table_is_an_error_and_can_be_built_again),
		OWN(the_same_generation_replaces_itself),
		OWN(tables_of_programs_with_split_dwarf_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
