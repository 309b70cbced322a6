// SPDX-License-Identifier: Apache-2.0
#include "querier/report/query_stats.h"

#include "base/clock.h"

static void put_count(struct json *json, str key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static void put_seconds(struct json *json, str key, uint64_t ns)
{
	uint64_t us = ns / 1000;

	json_key(json, key);
	json_double(json, (double)us / 1e6);
}

static void write_symbols(const struct symbol_lookup_stats *symbols, struct json *json)
{
	json_key(json, STR("symbols"));
	json_object(json);
	put_count(json, STR("addresses"), symbols->addresses);
	put_count(json, STR("cached"), symbols->cached);
	put_count(json, STR("requested"), symbols->requested);
	put_count(json, STR("requests"), symbols->requests);
	put_count(json, STR("symbolized"), symbols->symbolized);
	json_key(json, STR("unsymbolized"));
	json_object(json);
	for (size_t i = 0; i < NAME_REASON_COUNT; i++)
		if (symbols->unsymbolized[i])
			put_count(json, str_from(name_reason_names[i]), symbols->unsymbolized[i]);
	json_end_object(json);
	json_end_object(json);
}

static void add_symbols(struct symbol_lookup_stats *symbols,
			const struct symbol_lookup_stats *other)
{
	symbols->addresses += other->addresses;
	symbols->cached += other->cached;
	symbols->requested += other->requested;
	symbols->requests += other->requests;
	symbols->symbolized += other->symbolized;
	for (size_t i = 0; i < NAME_REASON_COUNT; i++)
		symbols->unsymbolized[i] += other->unsymbolized[i];
	symbols->ns += other->ns;
	symbols->is_enabled |= other->is_enabled;
}

void query_stats_add(struct query_stats *stats, const struct query_stats *other)
{
	store_stats_add(&stats->store, &other->store);
	stats->store.series += other->store.series;
	stats->store.rows += other->store.rows;
	stats->store.find_ns += other->store.find_ns;
	stats->store.read_ns += other->store.read_ns;
	add_symbols(&stats->symbols, &other->symbols);
}

void query_stats_write(const struct query_stats *stats, struct json *json)
{
	const struct store_stats *store = &stats->store;
	uint64_t all_ns = clock_monotonic_ns() - stats->began_ns;
	uint64_t known_ns = stats->wait_ns + store->find_ns + store->read_ns + stats->symbols.ns;

	json_object(json);
	put_count(json, STR("series"), store->series);
	put_count(json, STR("rows"), store->rows);
	put_count(json, STR("chunks"), store->chunks);
	put_count(json, STR("bytes"), store->bytes);
	put_count(json, STR("samples_read"), store->samples_read);
	put_count(json, STR("samples"), store->samples_matched);
	put_count(json, STR("connections"), 1 + store->connections);
	if (stats->symbols.is_enabled)
		write_symbols(&stats->symbols, json);
	json_key(json, STR("seconds"));
	json_object(json);
	put_seconds(json, STR("wait"), stats->wait_ns);
	put_seconds(json, STR("find"), store->find_ns);
	put_seconds(json, STR("read"), store->read_ns);
	put_seconds(json, STR("symbolize"), stats->symbols.ns);
	put_seconds(json, STR("write"), all_ns > known_ns ? all_ns - known_ns : 0);
	json_end_object(json);
	json_end_object(json);
}

str query_stats_text(const struct query_stats *stats, struct arena *arena)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	query_stats_write(stats, &json);
	return buf_bytes(&out);
}
