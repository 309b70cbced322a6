// SPDX-License-Identifier: Apache-2.0
/**
 * client - requests to the querier's API. A failed request throws an ApiError with the API's message.
 */

export type Params = Record<string, string | number | readonly string[]>;

export interface ApiResponse<T> {
	data: T;
	params: Params; // of the request
	warnings: string[];
}

/** A failed request. `type` is the API's errorType, or "network" if there was no HTTP response. */
export class ApiError extends Error {
	constructor(
		readonly type: string,
		readonly status: number,
		sentence: string,
	) {
		super(sentence);
	}
}

/** GET /api/v1/PATH. Aborting the signal also cancels the query in the database. */
export async function get<T>(path: string, params: Params, signal: AbortSignal): Promise<ApiResponse<T>> {
	const body = await readBody<T>(await send(urlOf(path, params), { signal }));
	return { ...body, params };
}

/** POST /api/v1/PATH with a JSON body. */
export async function post<T>(path: string, content: object): Promise<T> {
	const headers = { "Content-Type": "application/json" };
	const response = await send(`/api/v1/${path}`, { method: "POST", headers, body: JSON.stringify(content) });
	return (await readBody<T>(response)).data;
}

/** Returns the data of a successful response; throws an ApiError for an error response. */
async function readBody<T>(response: Response): Promise<{ data: T; warnings: string[] }> {
	const envelope = parseEnvelope(await response.text());
	if (envelope?.status === "success") return { data: envelope.data as T, warnings: envelope.warnings ?? [] };
	if (envelope?.status === "error")
		throw new ApiError(envelope.errorType ?? "internal", response.status, envelope.error ?? "the API gave no reason");
	throw new ApiError("internal", response.status, `the response is not in the API's format (status ${response.status})`);
}

export function urlOf(path: string, params: Params): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(params)) {
		for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
	}
	return `/api/v1/${path}?${query}`;
}

interface Envelope {
	status?: string;
	data?: unknown;
	warnings?: string[];
	errorType?: string;
	error?: string;
}

async function send(url: string, init: RequestInit): Promise<Response> {
	try {
		return await fetch(url, { ...init, headers: { Accept: "application/json", ...init.headers } });
	} catch (error) {
		if (init.signal?.aborted) throw error;
		throw new ApiError("network", 0, "the querier does not respond: it is stopped, or the network is down");
	}
}

function parseEnvelope(body: string): Envelope | null {
	try {
		return JSON.parse(body) as Envelope;
	} catch {
		return null;
	}
}
