// SPDX-License-Identifier: Apache-2.0
/*
 * limits - bounds of the HTTP server and the metrics registry that every service has.
 *
 * Rejected requests count in decima_http_requests_total by status, connections closed at a deadline
 * in decima_http_timeouts_total, connections beyond HTTP_CONNECTIONS in
 * decima_http_refused_connections_total. decima_http_connections is the number of open connections.
 */
#pragma once

enum {
	HTTP_CONNECTIONS = 256,       /* open connections, unless the service sets another number */
	HTTP_SPARE_DIVISOR = 8,       /* fewer than 1/8 of them free: idle ones are closed */
	HTTP_EXCESS_CONNECTIONS = 16, /* beyond HTTP_CONNECTIONS, while they are being closed */
	HTTP_MEMORY_MAX = 160 << 10,  /* bytes of a request line and headers */
	HTTP_URL_MAX = 64 << 10,      /* bytes; longer: 414 */
	HTTP_PARAMS_MAX = 256,        /* query parameters; more: 400 */
	HTTP_DRAIN_MAX = 1 << 20, /* bytes of a rejected body that are read before the response */
	HTTP_DISCARD_MAX = 256 << 20, /* bytes of it that are discarded after an early response */
	HTTP_DISCARD_SECONDS = 30,    /* to discard them */
	HTTP_DISCARD_PAUSE_MS = 2000, /* without a byte of them: the client has stopped sending */
	HTTP_REQUEST_SECONDS = 30,    /* to receive a request, including the idle time before it */
	HTTP_RESPONSE_SECONDS = 300,  /* to send a response */
	HTTP_SLOWEST_BYTES = 1 << 20, /* of a response: each extends its deadline by a second */
	HTTP_ROUTES_MAX = 64,         /* values of the label `route`; other paths count as "none" */
	METRICS_MAX = 128,            /* registered metrics; asserted */
	HEALTHCHECK_SECONDS = 5,      /* timeout of --healthcheck */
};
