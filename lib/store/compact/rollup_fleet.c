// SPDX-License-Identifier: Apache-2.0
#include "store/compact/rollup_fleet.h"

#include "store/compact/rollup.h"

/* Ours, Prometheus', and OpenTelemetry's attributes of hosts, pods and processes. */
static const char *const lacking[] = {
	"node", "pod", "container_id", "cgroup", "instance", "service_instance_id",
};
static const char *const lacking_prefixes[] = { "host_", "k8s_node_", "k8s_pod_", "process_" };

bool rollup_fleet_lacks(str name)
{
	for (size_t i = 0; i < ARRAY_LEN(lacking); i++)
		if (str_eq(name, str_from(lacking[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(lacking_prefixes); i++)
		if (str_starts_with(name, str_from(lacking_prefixes[i])))
			return true;
	return false;
}

uint64_t rollup_fleet_series(str type, struct arena *scratch)
{
	return series_id(type, (struct labels){ 0 }, scratch);
}

static struct labels kept_labels(struct labels labels, struct arena *arena)
{
	struct label *items = arena_array(arena, struct label, labels.len);
	size_t len = 0;

	for (size_t i = 0; i < labels.len; i++)
		if (!rollup_fleet_lacks(labels.items[i].name))
			items[len++] = labels.items[i];
	return (struct labels){ items, len };
}

static int compare(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->labels != y->labels)
		return x->labels < y->labels ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* The series and labels that replace a series and its labels. */
struct fleet_series {
	uint32_t series, labels;
	bool is_stored;
	bool is_fleet; /* already without instances: the samples have labels of their own */
};

static struct fleet_series fleet_series_of(const struct series *from, struct labels labels,
					   struct sample_set *names)
{
	struct fleet_series series = { 0 };

	series.is_fleet = from->id == rollup_fleet_series(from->type, names->arena);
	series.is_stored = series.is_fleet || labels.items;
	if (!series.is_stored)
		return series;
	series.series = sample_set_series(names, from->type, (struct labels){ 0 }, from->period);
	if (!series.is_fleet)
		series.labels = sample_set_labels(names, kept_labels(labels, names->arena));
	return series;
}

void rollup_fleet_fold(const struct sample_set *sums, const struct labels *labels,
		       struct arena *arena, struct sample_set *ret_fleet)
{
	struct sample_set names; /* series and label sets; stacks are those of the sums */
	struct sample_set fleet = *sums;
	struct fleet_series *fleet_series =
		arena_array(arena, struct fleet_series, sums->series.len);
	uint32_t *label_sets = arena_array(arena, uint32_t, sums->label_sets.len);
	struct sample *samples = arena_array(arena, struct sample, sums->samples.len);
	size_t count = 0;

	sample_set_init(&names, arena);
	for (size_t i = 0; i < sums->series.len; i++)
		fleet_series[i] = fleet_series_of(&sums->series.items[i], labels[i], &names);
	for (size_t i = 0; i < sums->label_sets.len; i++)
		label_sets[i] = sample_set_labels(&names, sums->label_sets.items[i]);
	for (size_t i = 0; i < sums->samples.len; i++) {
		const struct sample *from = &sums->samples.items[i];
		const struct fleet_series *series = &fleet_series[from->series];

		if (!series->is_stored)
			continue;
		samples[count] = *from;
		samples[count].series = series->series;
		samples[count++].labels =
			series->is_fleet ? label_sets[from->labels] : series->labels;
	}
	fleet.series = names.series;
	fleet.label_sets = names.label_sets;
	fleet.samples.items = samples;
	fleet.samples.len = fleet.samples.cap = rollup_sum(samples, count, compare);
	*ret_fleet = fleet;
}
