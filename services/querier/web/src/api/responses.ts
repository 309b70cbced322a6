// SPDX-License-Identifier: Apache-2.0
/** answers - the shapes of the API's data, as docs/api.md has them. */

/** report=flamegraph: columns of one length, in preorder; `name` and its like are numbers of `names`. */
export interface FlameResponse {
	unit: string;
	total: number;
	names: string[];
	nodes: {
		parent: number[];
		name: number[];
		binary: number[];
		file: number[];
		build_id: number[];
		address: number[];
		reason?: number[]; // why the function is not known, a sentence; 0 where it is
		reason_word?: number[]; // the same as a word: see flame/unsymbolized.ts
		self: number[];
		total: number[];
	};
}

/** The same for two that are compared: a before, b after. */
export interface DiffResponse {
	unit: string;
	a_total: number;
	b_total: number;
	names: string[];
	nodes: Omit<FlameResponse["nodes"], "self" | "total"> & {
		a_self: number[];
		a_total: number[];
		b_self: number[];
		b_total: number[];
	};
}

export interface Matrix {
	resultType: string;
	result: { metric: Record<string, string>; values: [number, string][] }[];
}

export interface Host {
	node: string;
	host: string;
	version: string;
	last_seen: number;
	taken: number;
	stored: number;
	in_flight: number;
	duplicate: number;
	missing: number;
	lost: Record<string, number>;
	truncated: Record<string, number>;
	why?: string;
}

/** What a link is of: `POST share`, `GET share/ID`. Times are Unix seconds. */
export interface ShareSide {
	query: string;
	start: number;
	end: number;
}

export interface Share extends Partial<ShareSide> {
	id: string;
	url: string; // a path of the querier
	a?: ShareSide; // of a comparison, both, and not what is above
	b?: ShareSide;
	group_by: string;
	created: number;
	expires?: number; // never
	frozen: boolean;
}
