// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the bounds of a daemon's door.
 *
 * Refusals are counted in decima_http_requests_total by status, connections that were cut in
 * decima_http_timeouts_total, those beyond HTTP_CONNECTIONS in
 * decima_http_refused_connections_total; open ones are decima_http_connections.
 */
#pragma once

enum {
	HTTP_CONNECTIONS = 256,       /* open at once, unless the service says otherwise */
	HTTP_SPARE_PART = 8,          /* fewer than one in so many free: idle ones are cut */
	HTTP_REFUSED_AT_ONCE = 16,    /* beyond, while they are cut and counted; further: waiting */
	HTTP_MEMORY_MAX = 160 << 10,  /* bytes of a connection's request line and headers */
	HTTP_URL_MAX = 64 << 10,      /* bytes; longer: 414 */
	HTTP_PARAMS_MAX = 256,        /* query parameters; more: 400 */
	HTTP_DRAIN_MAX = 1 << 20,     /* bytes of a refused body that are read for politeness */
	HTTP_REQUEST_SECONDS = 30,    /* from the first byte to the last of a request, idle too */
	HTTP_RESPONSE_SECONDS = 300,  /* to take a response away */
	HTTP_SLOWEST_BYTES = 1 << 20, /* of a response; each gives a second more */
	HTTP_ROUTES_MAX = 64,         /* paths that requests are counted by; others: none */
	METRICS_MAX = 128,            /* metrics in the registry: our own number, asserted */
	HEALTHCHECK_SECONDS = 5,      /* --healthcheck gives up */
};
