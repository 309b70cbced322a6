// SPDX-License-Identifier: Apache-2.0
#include "querier/symbolize/symbol_lookup.h"

#include "base/log.h"
#include "querier/querier_limits.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>

static const char *const from_names[] = { "cache", "symbolizer" };
#define SYMBOL_LOOKUP_METRICS(ROW)                                                               \
	ROW(addresses_total, METRIC_COUNTER, "decima_querier_symbolize_addresses_total",         \
	    "Addresses that needed symbols: found in the cache, and sent to the symbolizer.",    \
	    METRIC_LABEL("from", from_names, ARRAY_LEN(from_names)))                             \
	ROW(resolved_total, METRIC_COUNTER, "decima_querier_symbolized_addresses_total",         \
	    "Addresses in responses, by outcome: known, or the reason why they have no symbol.", \
	    METRIC_LABEL("outcome", name_reason_names, NAME_REASON_COUNT))                       \
	ROW(duration, METRIC_HISTOGRAM, "decima_querier_symbolize_duration_seconds",             \
	    "Time of a query's symbol lookup.", METRIC_IN_SECONDS)

METRICS(symbol_lookup_metrics, SYMBOL_LOOKUP_METRICS);

static void report_outcome(struct symbol_lookup *lookup, bool good)
{
	/* If the query ended early, the state of the source is unknown. */
	bool is_ours = !good && (lookup->why.code == ERR_CANCELLED ||
				 (lookup->is_shortened && lookup->why.code == ERR_TIMEOUT));

	lookup->has_failed = !good;
	if (good) {
		symbolization_report(lookup->symbolization, SYMBOLIZATION_SUCCEEDED);
		return;
	}
	symbolization_report(lookup->symbolization,
			     is_ours ? SYMBOLIZATION_ABANDONED : SYMBOLIZATION_FAILED);
	if (!is_ours)
		log_warn("symbolizer failed", "error=\"%s\"", lookup->why.msg);
}

/* The next request to the source, while it is filled. */
struct lookup_batch {
	struct symbolize_binary binaries[SYMBOL_BATCH_BINARIES_MAX];
	struct lookup_binary *of[SYMBOL_BATCH_BINARIES_MAX];
	size_t count, addresses;
};

static bool is_valid_response(const struct lookup_batch *batch,
			      const struct symbolize_response *response, struct err *err)
{
	if (response->binary_count != batch->count)
		return err_set(err, ERR_INVALID, "request for %zu binaries, response for %zu",
			       batch->count, response->binary_count);
	for (size_t i = 0; i < batch->count; i++) {
		const struct symbolize_binary *requested = &batch->binaries[i];
		size_t location_count = response->binaries[i].location_count;

		if (location_count != requested->address_count)
			return err_set(err, ERR_INVALID,
				       "request for %zu addresses of " STR_FMT ", response for %zu",
				       requested->address_count, STR_ARG(requested->build_id),
				       location_count);
	}
	return true;
}

static void cache_response(struct symbol_lookup *lookup, const struct lookup_batch *batch,
			   const struct symbolize_response *response, uint64_t requested_ns)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct symbolize_exchange exchange = { &batch->binaries[i],
							     &response->binaries[i], requested_ns };
		struct lookup_binary *binary = batch->of[i];
		struct cached_binary *cached = symbol_cache_put(
			&lookup->symbolization->cache, binary->cached, &exchange, &lookup->grown);

		binary->is_replaced = binary->is_replaced || cached != binary->cached;
		binary->cached = cached;
	}
}

static bool within_memory(struct symbol_lookup *lookup, struct merge *merge, size_t more,
			  struct err *err)
{
	size_t used = lookup->arena.size + lookup->grown + more;

	return memory_update(&lookup->memory, used) <= merge->memory_max ||
	       merge_too_big(merge, err);
}

/*
 * Send the batch and empty it. False: the client is gone, or more memory than the response may use.
 * A failure of the source is not a failure here.
 */
static bool send_batch(struct symbol_lookup *lookup, struct lookup_batch *batch,
		       struct merge *merge, struct err *err)
{
	const struct symbolize_request request = { batch->binaries, batch->count };
	const struct symbol_source *source = &lookup->symbolization->source;
	uint64_t requested_ns = clock_monotonic_ns();
	struct symbolize_response response;
	AUTO_ARENA arena = { 0 };
	bool good;

	if (batch->count == 0 || lookup->has_failed) {
		batch->count = batch->addresses = 0;
		return true;
	}
	lookup->stats.requests++;
	lookup->stats.requested += batch->addresses;
	good = store_bounds_check(&lookup->bounds, &lookup->why) &&
	       source->query(source->self, &request, &lookup->bounds, &arena, &response,
			     &lookup->why) &&
	       is_valid_response(batch, &response, &lookup->why);
	report_outcome(lookup, good);
	if (good)
		cache_response(lookup, batch, &response, requested_ns);
	batch->count = batch->addresses = 0;
	if (cancel_requested(lookup->bounds.cancel))
		return err_set(err, ERR_CANCELLED, "the client closed the connection");
	return within_memory(lookup, merge, arena.size, err);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The missing addresses, sorted and each once: two paths may be the same binary. */
static uint64_t *missing_addresses(const struct lookup_binary *binary, struct arena *arena,
				   size_t *ret_count)
{
	uint64_t *addresses = arena_array(arena, uint64_t, binary->missing_count);
	size_t count = 0;

	for (size_t i = 0; i < binary->missing_count; i++)
		addresses[i] = binary->addresses[binary->missing[i]];
	if (binary->missing_count)
		qsort(addresses, binary->missing_count, sizeof(*addresses), compare_addresses);
	for (size_t i = 0; i < binary->missing_count; i++)
		if (count == 0 || addresses[count - 1] != addresses[i])
			addresses[count++] = addresses[i];
	*ret_count = count;
	return addresses;
}

/* Request the missing addresses of a binary, or only its generation if there are none. */
static bool request_binary(struct symbol_lookup *lookup, struct lookup_batch *batch,
			   struct lookup_binary *binary, struct merge *merge, struct err *err)
{
	size_t count, done = 0;
	const uint64_t *addresses = missing_addresses(binary, &lookup->arena, &count);

	binary->was_requested = true;
	do {
		size_t room = SYMBOL_BATCH_ADDRESSES_MAX - batch->addresses;
		size_t taken = count - done < room ? count - done : room;

		batch->of[batch->count] = binary;
		batch->binaries[batch->count++] =
			(struct symbolize_binary){ binary->build_id, addresses + done, taken };
		batch->addresses += taken;
		done += taken;
		if ((batch->addresses == SYMBOL_BATCH_ADDRESSES_MAX ||
		     batch->count == SYMBOL_BATCH_BINARIES_MAX) &&
		    !send_batch(lookup, batch, merge, err))
			return false;
	} while (done < count);
	return true;
}

static void find_symbols(struct symbol_lookup *lookup, struct lookup_binary *binary)
{
	binary->missing_count =
		cached_binary_find(binary->cached, binary->addresses, binary->count,
				   lookup->began_ns, binary->resolved, binary->missing);
}

static bool is_fresh(const struct symbol_lookup *lookup, struct lookup_binary *binary)
{
	return cached_binary_requested_ns(binary->cached) + SYMBOLS_FRESH_MS * NS_PER_MS >
	       lookup->began_ns;
}

/* Request all missing addresses, and the generation of binaries that are no longer fresh. */
static bool request_missing(struct symbol_lookup *lookup, struct merge *merge, struct err *err)
{
	struct lookup_batch *batch = arena_new(&lookup->arena, struct lookup_batch);

	for (size_t i = 0; i < lookup->addresses.binaries.len; i++) {
		struct lookup_binary *binary = &lookup->addresses.binaries.items[i];

		if ((binary->missing_count || !is_fresh(lookup, binary)) &&
		    !request_binary(lookup, batch, binary, merge, err))
			return false;
	}
	return send_batch(lookup, batch, merge, err);
}

/*
 * Request the addresses of binaries whose debug file changed: their cached symbols were of the old
 * file.
 */
static bool request_replaced(struct symbol_lookup *lookup, struct merge *merge, struct err *err)
{
	struct lookup_batch *batch = arena_new(&lookup->arena, struct lookup_batch);

	for (size_t i = 0; i < lookup->addresses.binaries.len; i++) {
		struct lookup_binary *binary = &lookup->addresses.binaries.items[i];

		if (!binary->is_replaced)
			continue;
		find_symbols(lookup, binary);
		if (binary->missing_count && !request_binary(lookup, batch, binary, merge, err))
			return false;
	}
	return send_batch(lookup, batch, merge, err);
}

static bool query_source(struct symbol_lookup *lookup, struct merge *merge, struct err *err)
{
	bool is_needed = false;

	for (size_t i = 0; i < lookup->addresses.binaries.len && !is_needed; i++) {
		struct lookup_binary *binary = &lookup->addresses.binaries.items[i];

		is_needed = binary->missing_count || !is_fresh(lookup, binary);
	}
	if (!is_needed)
		return true;
	if (!symbolization_may_query(lookup->symbolization)) {
		lookup->has_failed = true;
		err_set(&lookup->why, ERR_IO, "it failed a moment ago, requests are paused");
		return true;
	}
	return request_missing(lookup, merge, err) && request_replaced(lookup, merge, err);
}

static void collect(struct symbol_lookup *lookup, struct lookup_binary *binary)
{
	const struct address_lines unresolved = {
		.reason = lookup->has_failed ? NAME_NO_RESPONSE : NAME_PENDING,
	};

	if (binary->was_requested)
		find_symbols(lookup, binary);
	for (size_t i = 0; i < binary->missing_count; i++)
		binary->resolved[binary->missing[i]] = unresolved;
	for (size_t i = 0; i < binary->count; i++) {
		const struct address_lines *name = &binary->resolved[i];

		lookup->resolved[binary->frames[i]] = *name;
		if (name->len)
			lookup->stats.symbolized++;
		else
			lookup->stats.unsymbolized[name->reason]++;
	}
}

static void add_warnings(struct symbol_lookup *lookup)
{
	const struct symbol_lookup_stats *stats = &lookup->stats;
	uint64_t pending = stats->unsymbolized[NAME_PENDING];

	if (lookup->has_failed)
		lookup->warnings[lookup->warning_count++] = str_format(
			&lookup->arena,
			"symbols: the symbolizer cannot be queried: %s. %" PRIu64 " of %" PRIu64
			" addresses have no symbol; the others have cached symbols",
			lookup->why.msg, stats->addresses - stats->symbolized, stats->addresses);
	if (pending)
		lookup->warnings[lookup->warning_count++] =
			str_format(&lookup->arena,
				   "symbols: the debug info of %" PRIu64
				   " addresses is being fetched or read: request again",
				   pending);
}

static void account(struct symbol_lookup *lookup)
{
	struct symbol_lookup_stats *stats = &lookup->stats;

	stats->ns = clock_monotonic_ns() - lookup->began_ns;
	metric_add_at(&addresses_total, 0, stats->cached);
	metric_add_at(&addresses_total, 1, stats->requested);
	metric_add_at(&resolved_total, NAME_KNOWN, stats->symbolized);
	for (size_t i = NAME_KNOWN + 1; i < NAME_REASON_COUNT; i++)
		metric_add_at(&resolved_total, i, stats->unsymbolized[i]);
	metric_observe(&duration, stats->ns);
}

/* Use at most half of the time left: the other half is for writing the response and for delays. */
static void set_deadline(struct symbol_lookup *lookup, const struct store_bounds *bounds)
{
	uint64_t end_ns = lookup->began_ns + lookup->symbolization->timeout_ns;

	lookup->bounds = *bounds;
	if (bounds->deadline_ns) {
		uint64_t left_ns = bounds->deadline_ns > lookup->began_ns
					   ? bounds->deadline_ns - lookup->began_ns
					   : 0;

		lookup->is_shortened = lookup->began_ns + left_ns / 2 < end_ns;
		if (lookup->is_shortened)
			end_ns = lookup->began_ns + left_ns / 2;
	}
	lookup->bounds.deadline_ns = end_ns;
}

static void find_cached(struct symbol_lookup *lookup, struct lookup_binary *binary)
{
	binary->cached = symbol_cache_acquire(&lookup->symbolization->cache, binary->build_id);
	find_symbols(lookup, binary);
	lookup->stats.cached += binary->count - binary->missing_count;
}

bool symbol_lookup_run(struct symbol_lookup *lookup, struct symbolization *symbolization,
		       struct merge *merge, const struct store_bounds *bounds, struct err *err)
{
	*lookup = (struct symbol_lookup){ .symbolization = symbolization,
					  .memory.total = merge->memory.total,
					  .began_ns = clock_monotonic_ns(),
					  .stats.is_enabled = true };
	set_deadline(lookup, bounds);
	lookup->addresses = lookup_addresses_of(merge, &lookup->arena);
	lookup->resolved = arena_array(&lookup->arena, struct address_lines, merge->set.frames.len);
	lookup->stats.addresses = lookup->addresses.address_count;
	for (size_t i = 0; i < lookup->addresses.binaries.len; i++)
		find_cached(lookup, &lookup->addresses.binaries.items[i]);
	if (!within_memory(lookup, merge, 0, err) || !query_source(lookup, merge, err))
		return false;
	for (size_t i = 0; i < lookup->addresses.binaries.len; i++)
		collect(lookup, &lookup->addresses.binaries.items[i]);
	add_warnings(lookup);
	account(lookup);
	return true;
}

void symbol_lookup_done(struct symbol_lookup *lookup)
{
	for (size_t i = 0; i < lookup->addresses.binaries.len; i++)
		if (lookup->addresses.binaries.items[i].cached)
			symbol_cache_release(&lookup->symbolization->cache,
					     lookup->addresses.binaries.items[i].cached);
	memory_update(&lookup->memory, 0);
	arena_free(&lookup->arena);
}
