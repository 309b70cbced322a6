// SPDX-License-Identifier: Apache-2.0
#include "name_search.h"

#include "base/log.h"
#include "chassis/metrics.h"
#include "querier_limits.h"

#include <inttypes.h>

static const char *const from_names[] = { "cache", "symbolizer" };
static struct metric wanted_total = { .name = "decima_querier_name_addresses_total",
				      .kind = METRIC_COUNTER,
				      .help = "Addresses that wanted a name, by where it was "
					      "looked for: known from before, or asked "
					      "for.",
				      .label = "from",
				      .values = from_names,
				      .value_count = ARRAY_LEN(from_names) };
static struct metric names_total = {
	.name = "decima_querier_names_total",
	.kind = METRIC_COUNTER,
	.help = "Addresses in answers, by whether they got a name: known, or why not.",
	.label = "outcome",
	.values = name_reason_names,
	.value_count = NAME_REASON_COUNT
};
static struct metric duration = { .name = "decima_querier_names_duration_seconds",
				  .kind = METRIC_HISTOGRAM,
				  .help = "Time of a query's way to its names.",
				  METRIC_IN_SECONDS };
struct metric *const name_search_metrics[NAME_SEARCH_METRICS] = { &wanted_total, &names_total,
								  &duration };

static void tell_outcome(struct name_search *search, bool good)
{
	/* A query that ends early says nothing of the source. */
	bool is_ours = stop_is_asked(search->bounds.stop) ||
		       (search->is_cut && clock_monotonic_ns() >= search->bounds.deadline_ns);

	search->has_failed = !good;
	if (good) {
		namer_tell(search->namer, NAMER_ANSWERED);
		return;
	}
	namer_tell(search->namer, is_ours ? NAMER_UNTOLD : NAMER_FAILED);
	if (!is_ours)
		log_warn("no names", "error=\"%s\"", search->why.msg);
}

/* A question of some addresses of some binaries. */
struct piece {
	struct symbolize_binary binaries[NAME_PIECE_BINARIES_MAX];
	struct name_wanted *of[NAME_PIECE_BINARIES_MAX];
	size_t count, addresses;
};

static bool is_answer(const struct piece *piece, const struct symbolize_response *response,
		      struct err *err)
{
	if (response->binary_count != piece->count)
		return err_set(err, ERR_INVALID, "asked of %zu binaries, it answered of %zu",
			       piece->count, response->binary_count);
	for (size_t i = 0; i < piece->count; i++) {
		const struct symbolize_binary *asked = &piece->binaries[i];
		size_t told = response->binaries[i].location_count;

		if (told != asked->address_count)
			return err_set(err, ERR_INVALID,
				       "asked for %zu addresses of " STR_FMT ", it answered %zu",
				       asked->address_count, STR_ARG(asked->build_id), told);
	}
	return true;
}

static void take_answer(struct name_search *search, const struct piece *piece,
			const struct symbolize_response *response, uint64_t asked_ns)
{
	for (size_t i = 0; i < piece->count; i++) {
		const struct name_answer answer = { &piece->binaries[i], &response->binaries[i],
						    asked_ns };
		struct name_wanted *wanted = piece->of[i];
		struct name_binary *binary = name_cache_put(&search->namer->cache, wanted->binary,
							    &answer, &search->grown);

		wanted->is_another = wanted->is_another || binary != wanted->binary;
		wanted->binary = binary;
	}
}

static bool within_memory(struct name_search *search, struct merge *merge, size_t more,
			  struct err *err)
{
	size_t held = search->arena.held + search->grown + more;

	return memory_held(&search->share, held) <= merge->memory_max || merge_too_big(merge, err);
}

/* False: nobody waits any more, or it takes more memory than the answer may. A source that fails is
 * no failure here. */
static bool ask(struct name_search *search, struct piece *piece, struct merge *merge,
		struct err *err)
{
	const struct symbolize_request request = { piece->binaries, piece->count };
	const struct name_source *source = &search->namer->source;
	uint64_t asked_ns = clock_monotonic_ns();
	struct symbolize_response response;
	AUTO_ARENA arena = { 0 };
	bool good;

	if (piece->count == 0 || search->has_failed) {
		piece->count = piece->addresses = 0;
		return true;
	}
	search->stats.requests++;
	search->stats.asked += piece->addresses;
	good = store_bounds_hold(&search->bounds, &search->why) &&
	       source->ask(source->self, &request, &search->bounds, &arena, &response,
			   &search->why) &&
	       is_answer(piece, &response, &search->why);
	tell_outcome(search, good);
	if (good)
		take_answer(search, piece, &response, asked_ns);
	piece->count = piece->addresses = 0;
	if (stop_is_asked(search->bounds.stop))
		return err_set(err, ERR_IO, "nobody waits for the answer any more");
	return within_memory(search, merge, arena.held, err);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Neighbours together, each once: two paths may be one binary. */
static uint64_t *missing_addresses(const struct name_wanted *wanted, struct arena *arena,
				   size_t *ret_count)
{
	uint64_t *addresses = arena_array(arena, uint64_t, wanted->missing_count);
	size_t count = 0;

	for (size_t i = 0; i < wanted->missing_count; i++)
		addresses[i] = wanted->addresses[wanted->missing[i]];
	if (wanted->missing_count)
		qsort(addresses, wanted->missing_count, sizeof(*addresses), compare_addresses);
	for (size_t i = 0; i < wanted->missing_count; i++)
		if (count == 0 || addresses[count - 1] != addresses[i])
			addresses[count++] = addresses[i];
	*ret_count = count;
	return addresses;
}

/* Ask for what is missing of a binary; for its generation, if nothing is. */
static bool ask_binary(struct name_search *search, struct piece *piece, struct name_wanted *wanted,
		       struct merge *merge, struct err *err)
{
	size_t count, done = 0;
	const uint64_t *addresses = missing_addresses(wanted, &search->arena, &count);

	wanted->was_asked = true;
	do {
		size_t room = NAME_PIECE_ADDRESSES_MAX - piece->addresses;
		size_t some = count - done < room ? count - done : room;

		piece->of[piece->count] = wanted;
		piece->binaries[piece->count++] =
			(struct symbolize_binary){ wanted->build_id, addresses + done, some };
		piece->addresses += some;
		done += some;
		if ((piece->addresses == NAME_PIECE_ADDRESSES_MAX ||
		     piece->count == NAME_PIECE_BINARIES_MAX) &&
		    !ask(search, piece, merge, err))
			return false;
	} while (done < count);
	return true;
}

static void find(struct name_search *search, struct name_wanted *wanted)
{
	wanted->missing_count = name_binary_find(wanted->binary, wanted->addresses, wanted->count,
						 search->began_ns, wanted->names, wanted->missing);
}

static bool is_fresh(const struct name_search *search, struct name_wanted *wanted)
{
	return name_binary_asked_ns(wanted->binary) + NAME_FRESH_MS * NS_PER_MS > search->began_ns;
}

/* All that is missing; and which generation those are of that were not asked for lately. */
static bool ask_missing(struct name_search *search, struct merge *merge, struct err *err)
{
	struct piece *piece = arena_new(&search->arena, struct piece);

	for (size_t i = 0; i < search->list.binaries.len; i++) {
		struct name_wanted *wanted = &search->list.binaries.items[i];

		if ((wanted->missing_count || !is_fresh(search, wanted)) &&
		    !ask_binary(search, piece, wanted, merge, err))
			return false;
	}
	return ask(search, piece, merge, err);
}

/* Binaries whose debug file turned out to be another: what we had of them is of the old one. */
static bool ask_again(struct name_search *search, struct merge *merge, struct err *err)
{
	struct piece *piece = arena_new(&search->arena, struct piece);

	for (size_t i = 0; i < search->list.binaries.len; i++) {
		struct name_wanted *wanted = &search->list.binaries.items[i];

		if (!wanted->is_another)
			continue;
		find(search, wanted);
		if (wanted->missing_count && !ask_binary(search, piece, wanted, merge, err))
			return false;
	}
	return ask(search, piece, merge, err);
}

static bool ask_source(struct name_search *search, struct merge *merge, struct err *err)
{
	bool needed = false;

	for (size_t i = 0; i < search->list.binaries.len && !needed; i++) {
		struct name_wanted *wanted = &search->list.binaries.items[i];

		needed = wanted->missing_count || !is_fresh(search, wanted);
	}
	if (!needed)
		return true;
	if (!namer_may_ask(search->namer)) {
		search->has_failed = true;
		err_set(&search->why, ERR_IO, "it failed a moment ago and is left alone");
		return true;
	}
	return ask_missing(search, merge, err) && ask_again(search, merge, err);
}

static void take_names(struct name_search *search, struct name_wanted *wanted)
{
	const struct name none = {
		.reason = search->has_failed ? NAME_NOT_ASKED : NAME_PENDING,
	};

	if (wanted->was_asked)
		find(search, wanted);
	for (size_t i = 0; i < wanted->missing_count; i++)
		wanted->names[wanted->missing[i]] = none;
	for (size_t i = 0; i < wanted->count; i++) {
		const struct name *name = &wanted->names[i];

		search->names[wanted->frames[i]] = *name;
		if (name->len)
			search->stats.named++;
		else
			search->stats.unnamed[name->reason]++;
	}
}

static void warn(struct name_search *search)
{
	const struct name_stats *stats = &search->stats;
	uint64_t pending = stats->unnamed[NAME_PENDING];

	if (search->has_failed)
		search->warnings[search->warning_count++] = str_format(
			&search->arena,
			"names: the symbolizer cannot be asked: %s. %" PRIu64 " of %" PRIu64
			" addresses have no name; the others have those of before",
			search->why.msg, stats->addresses - stats->named, stats->addresses);
	if (pending)
		search->warnings[search->warning_count++] = str_format(
			&search->arena,
			"names: the debug info of %" PRIu64 " addresses is being fetched "
			"or read: ask again",
			pending);
}

static void account(struct name_search *search)
{
	struct name_stats *stats = &search->stats;

	stats->ns = clock_monotonic_ns() - search->began_ns;
	metric_add_at(&wanted_total, 0, stats->cached);
	metric_add_at(&wanted_total, 1, stats->asked);
	metric_add_at(&names_total, NAME_KNOWN, stats->named);
	for (size_t i = NAME_KNOWN + 1; i < NAME_REASON_COUNT; i++)
		metric_add_at(&names_total, i, stats->unnamed[i]);
	metric_observe(&duration, stats->ns);
}

/* Half of what is left is for the answer that is made afterwards, and for being late. */
static void bound(struct name_search *search, const struct store_bounds *bounds)
{
	uint64_t end_ns = search->began_ns + search->namer->timeout_ns;

	search->bounds = *bounds;
	if (bounds->deadline_ns) {
		uint64_t left_ns = bounds->deadline_ns > search->began_ns
					   ? bounds->deadline_ns - search->began_ns
					   : 0;

		search->is_cut = search->began_ns + left_ns / 2 < end_ns;
		if (search->is_cut)
			end_ns = search->began_ns + left_ns / 2;
	}
	search->bounds.deadline_ns = end_ns;
}

static void look_up(struct name_search *search, struct name_wanted *wanted)
{
	wanted->binary = name_cache_take(&search->namer->cache, wanted->build_id);
	find(search, wanted);
	search->stats.cached += wanted->count - wanted->missing_count;
}

bool name_search_run(struct name_search *search, struct namer *namer, struct merge *merge,
		     const struct store_bounds *bounds, struct err *err)
{
	*search = (struct name_search){ .namer = namer,
					.share.memory = merge->share.memory,
					.began_ns = clock_monotonic_ns(),
					.stats.has_asked = true };
	bound(search, bounds);
	search->list = name_list_of(merge, &search->arena);
	search->names = arena_array(&search->arena, struct name, merge->set.frames.len);
	search->stats.addresses = search->list.addresses;
	for (size_t i = 0; i < search->list.binaries.len; i++)
		look_up(search, &search->list.binaries.items[i]);
	if (!within_memory(search, merge, 0, err) || !ask_source(search, merge, err))
		return false;
	for (size_t i = 0; i < search->list.binaries.len; i++)
		take_names(search, &search->list.binaries.items[i]);
	warn(search);
	account(search);
	return true;
}

void name_search_done(struct name_search *search)
{
	for (size_t i = 0; i < search->list.binaries.len; i++)
		if (search->list.binaries.items[i].binary)
			name_cache_give(&search->namer->cache,
					search->list.binaries.items[i].binary);
	memory_held(&search->share, 0);
	arena_free(&search->arena);
}
