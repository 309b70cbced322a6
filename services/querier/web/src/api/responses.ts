// SPDX-License-Identifier: Apache-2.0
/** responses - types of the API's responses, as documented in docs/api.md. */

/** The columns that the page shows: parameter `columns` of flame graphs and comparisons. */
export const COLUMNS = "name,binary,file,build_id,address,reason,reason_code,builds";

/**
 * report=flamegraph: columns of equal length, in preorder. The texts (`name`, `binary` etc.) are indices into `names`,
 * those of `builds` into the lists `builds`: pairs of a path and a build id, which are indices into `names` too.
 */
export interface FlameResponse {
	unit: string;
	total: number;
	names: string[];
	builds?: [number, number][][];
	nodes: {
		parent: number[];
		name: number[];
		binary: number[];
		file: number[];
		build_id: number[];
		address: number[];
		reason?: number[]; // a sentence: why the address has no function name; 0 if it has one
		reason_code?: number[]; // the reason as a keyword: see flame/unsymbolized.ts
		builds?: number[]; // where the function was found
		self: number[];
		total: number[];
	};
}

/** What has no function names, by binary and reason, the greatest first. */
export interface UnnamedResponse {
	unit: string;
	total: number;
	unnamed: number;
	rows: { binary: string; reason: string; reason_code: string; remedy: string; self: number }[];
}

/** A flame graph of two compared profiles: a is before, b is after. */
export interface DiffResponse {
	unit: string;
	a_total: number;
	b_total: number;
	names: string[];
	builds?: [number, number][][];
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
	sampled: number;
	stored: number;
	in_flight: number;
	unaccounted: number;
	duplicate: number;
	conflict: number;
	missing: number;
	lost: Record<string, number>;
	truncated: Record<string, number>;
	why?: string;
}

/** One query of a share: `POST share`, `GET share/ID`. Times are Unix seconds. */
export interface ShareSide {
	query: string;
	start: number;
	end: number;
}

export interface Share extends Partial<ShareSide> {
	id: string;
	url: string; // a path on the querier
	a?: ShareSide; // a comparison has both a and b, and no query, start and end of its own
	b?: ShareSide; // see a
	group_by: string;
	created: number;
	expires?: number; // missing: never
	frozen: boolean;
}
