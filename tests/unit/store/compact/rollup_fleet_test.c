// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "store/compact/rollup_fleet.h"
#include "support/test.h"

enum { HOSTS = 5, STACKS = 3 };

#define WALL "wall:wall:nanoseconds:wall:nanoseconds"

static struct labels labels_on(const char *comm, const char *node, struct arena *arena)
{
	struct label *items = arena_array(arena, struct label, 3);

	items[0] = (struct label){ STR("comm"), str_from(comm) };
	items[1] = (struct label){ STR("k8s_pod_uid"), STR("7") };
	items[2] = (struct label){ STR("node"), str_from(node) };
	return (struct labels){ items, 3 };
}

/* Each host has the same stacks: host + 1 ticks of CPU each, and ten times that of wall time. */
static struct labels *fill(struct sample_set *set, const char *comm)
{
	static const char *const nodes[HOSTS] = { "a", "b", "c", "d", "e" };
	struct labels *labels = arena_array(set->arena, struct labels, 2 * HOSTS);

	for (uint32_t host = 0; host < HOSTS; host++) {
		for (uint32_t type = 0; type < 2; type++) {
			struct labels given = labels_on(comm, nodes[host], set->arena);
			uint32_t series = sample_set_series(
				set, type ? STR(WALL) : STR(PROFILE_TYPE_CPU), given, 10);

			labels[series] = given;
			for (uint64_t i = 0; i < STACKS; i++) {
				struct frame frame = { .type = STR("native"), .address = i + 1 };
				uint32_t index = sample_set_frame(set, &frame);

				sample_set_add(
					set,
					(struct sample){ .series = series,
							 .stack = sample_set_stack(set, &index, 1),
							 .value = (host + 1) * (type ? 10 : 1),
							 .time_ms = 7 });
			}
		}
	}
	return labels;
}

static void hosts_become_one(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set sums, fleet;
	int64_t of_type[2] = { 0 };

	(void)state;
	sample_set_init(&sums, &arena);
	rollup_fleet_fold(&sums, fill(&sums, "nginx"), &arena, &fleet);

	assert_int_equal(fleet.series.len, 2);
	assert_int_equal(fleet.samples.len, 2 * STACKS);
	for (size_t i = 0; i < fleet.samples.len; i++) {
		const struct sample *sample = &fleet.samples.items[i];
		const struct series *series = &fleet.series.items[sample->series];
		struct labels labels = fleet.label_sets.items[sample->labels];

		assert_int_equal(series->labels.len, 0);
		assert_int_equal(series->period, 10);
		assert_int_equal(series->id, rollup_fleet_series(series->type, &arena));
		assert_int_equal(labels.len, 1);
		assert_true(str_eq(labels_get(labels, STR("comm")), STR("nginx")));
		assert_int_equal(sample->time_ms, 7);
		of_type[str_eq(series->type, STR(WALL))] += sample->value;
	}
	assert_int_equal(of_type[0], STACKS * 15);
	assert_int_equal(of_type[1], STACKS * 150);
}

static void a_series_without_stored_labels_is_left_out(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set sums, fleet;
	int64_t cpu = 0;

	(void)state;
	sample_set_init(&sums, &arena);

	struct labels *labels = fill(&sums, "nginx");

	labels[0] = (struct labels){ 0 }; /* CPU of the first host */
	rollup_fleet_fold(&sums, labels, &arena, &fleet);
	for (size_t i = 0; i < fleet.samples.len; i++) {
		const struct sample *sample = &fleet.samples.items[i];

		if (!str_eq(fleet.series.items[sample->series].type, STR(WALL)))
			cpu += sample->value;
	}
	assert_int_equal(cpu, STACKS * 14);
}

static void sums_without_instances_stay_unchanged(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set sums, fleet, day, again;

	(void)state;
	sample_set_init(&sums, &arena);
	rollup_fleet_fold(&sums, fill(&sums, "nginx"), &arena, &fleet);
	sample_set_init(&day, &arena);

	struct labels *labels = fill(&day, "nginx"); /* of an hour with ALONE sums only */

	sample_set_merge(&day, &fleet, NULL);
	labels = memcpy(arena_array(&arena, struct labels, day.series.len), labels,
			2 * HOSTS * sizeof(*labels));
	rollup_fleet_fold(&day, labels, &arena, &again);

	assert_int_equal(again.samples.len, fleet.samples.len);
	for (size_t i = 0; i < again.samples.len; i++) {
		const struct sample *sample = &again.samples.items[i];
		bool is_wall = str_eq(again.series.items[sample->series].type, STR(WALL));
		struct labels kept = again.label_sets.items[sample->labels];

		assert_int_equal(kept.len, 1);
		assert_true(str_eq(labels_get(kept, STR("comm")), STR("nginx")));
		assert_int_equal(sample->value, is_wall ? 2 * 150 : 2 * 15);
	}
}

static void an_empty_set_stays_empty(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set sums, fleet;

	(void)state;
	sample_set_init(&sums, &arena);
	rollup_fleet_fold(&sums, NULL, &arena, &fleet);
	assert_int_equal(fleet.samples.len, 0);
}

static void labels_of_instances_are_left_out(void **state)
{
	static const char *const lacks[] = { "node",
					     "pod",
					     "container_id",
					     "cgroup",
					     "instance",
					     "host_id",
					     "k8s_pod_uid",
					     "k8s_node_name",
					     "service_instance_id",
					     "process_command_line" };
	static const char *const has[] = { "comm",
					   "exe",
					   "service_name",
					   "namespace",
					   "container",
					   "image",
					   "unit",
					   "region",
					   "hostess",
					   "nodes",
					   "k8s_deployment_name",
					   "compose_service" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lacks); i++)
		assert_true(rollup_fleet_lacks(str_from(lacks[i])));
	for (size_t i = 0; i < ARRAY_LEN(has); i++)
		assert_false(rollup_fleet_lacks(str_from(has[i])));
}

RUN_TESTS(TEST(hosts_become_one), TEST(a_series_without_stored_labels_is_left_out),
	  TEST(sums_without_instances_stay_unchanged), TEST(an_empty_set_stays_empty),
	  TEST(labels_of_instances_are_left_out))
