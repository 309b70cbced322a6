// SPDX-License-Identifier: Apache-2.0
/**
 * client - the querier's API: one function that asks, and an error that is the API's own sentence.
 */

export type Params = Record<string, string | number | readonly string[]>;

export interface Answer<T> {
	data: T;
	params: Params; // what it answers
	warnings: string[];
}

/** Why there is no answer. `type` is the API's word, or "network" where nobody answered. */
export class ApiError extends Error {
	constructor(
		readonly type: string,
		readonly status: number,
		sentence: string,
	) {
		super(sentence);
	}
}

/** GET /api/v1/PATH. Aborting the signal ends the query in the database too. */
export async function ask<T>(path: string, params: Params, signal: AbortSignal): Promise<Answer<T>> {
	const answer = await read<T>(await send(urlOf(path, params), { signal }));
	return { ...answer, params };
}

/** POST /api/v1/PATH, with what is told as JSON. */
export async function tell<T>(path: string, what: object): Promise<T> {
	const headers = { "Content-Type": "application/json" };
	const response = await send(`/api/v1/${path}`, { method: "POST", headers, body: JSON.stringify(what) });
	return (await read<T>(response)).data;
}

/** Its data, or its own sentence thrown. */
async function read<T>(response: Response): Promise<{ data: T; warnings: string[] }> {
	const answer = readEnvelope(await response.text());
	if (answer?.status === "success") return { data: answer.data as T, warnings: answer.warnings ?? [] };
	if (answer?.status === "error")
		throw new ApiError(answer.errorType ?? "internal", response.status, answer.error ?? "no reason was given");
	throw new ApiError("internal", response.status, `what came is no answer of the API (status ${response.status})`);
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
		throw new ApiError("network", 0, "the querier does not answer: it is stopped, or the network is away");
	}
}

function readEnvelope(body: string): Envelope | null {
	try {
		return JSON.parse(body) as Envelope;
	} catch {
		return null;
	}
}
