// SPDX-License-Identifier: Apache-2.0
/*
 * resolver - turns a symbolize request into its response.
 *
 * For each build id the resolver finds out the current generation, gets the symbol table, and looks
 * up the addresses. If a table is ready, the response is immediate. If not, the resolver looks into
 * the shared cache or starts a build, and waits for it until the request times out. Then the build
 * id is answered from a table of an older generation, which the response states, or it is
 * NAME_PENDING. The build continues, and a later request finds its result. Any thread.
 */
#pragma once

#include "symbolizer/build/worker_pool.h"
#include "symbolizer/shared_cache/shared_cache.h"

struct resolver_options {
	uint64_t timeout_ns;
	const struct cancel *cancel;
};

/* The caller fills it and keeps all members alive as long as threads use the resolver. */
struct resolver {
	struct resolver_options options;
	struct tables *tables;
	struct generations *generations;
	struct worker_pool *pool;
	struct shared_cache *cache;
};

/* Cannot fail: an address that cannot be symbolized has a reason. Blocks for at most the timeout.
 * The response is in the arena, which no other thread may use meanwhile. `client_gone` is set when
 * the client has disconnected, which ends the wait; it may be NULL. */
struct symbolize_response resolver_resolve(const struct resolver *resolver,
					   const struct symbolize_request *request,
					   const struct cancel *client_gone, struct arena *arena);

extern struct metric *const resolver_metrics[];
