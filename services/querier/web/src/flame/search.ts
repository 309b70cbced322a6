// SPDX-License-Identifier: Apache-2.0
/**
 * search - which frames a search text matches: part of a name (case-insensitive),
 * `/a regular expression/`, or `"the whole name"`.
 */
import type { Tree } from "./tree";

export interface SearchResult {
	nodes: Uint8Array; // 1: the search matches this node
	count: number;
	sum: number; // of the stacks that contain a matched frame, each counted once
}

export type Test = (name: string) => boolean;

/** Null for an empty text. Throws an Error if the regular expression is invalid. */
export function testFrom(text: string): Test | null {
	if (text === "") return null;
	const quoted = /^"(.*)"$/s.exec(text);
	if (quoted) return (name) => name === quoted[1];
	const slashed = /^\/(.+)\/$/s.exec(text);
	if (slashed) {
		const expression = new RegExp(slashed[1], "i");
		return (name) => expression.test(name);
	}
	const wanted = text.toLowerCase();
	return (name) => name.toLowerCase().includes(wanted);
}

/** The search text that matches exactly this name. */
export function searchFor(name: string): string {
	return `"${name}"`;
}

/** The root "all" never matches. */
export function search(tree: Tree, test: Test): SearchResult {
	const matched = tree.names.map(test);
	const found: SearchResult = { nodes: new Uint8Array(tree.count), count: 0, sum: 0 };
	let counted = 0; // rows before this one are in a subtree that is already counted
	for (let i = 1; i < tree.count; i++) {
		if (!matched[tree.name[i]]) continue;
		found.nodes[i] = 1;
		found.count++;
		if (i < counted) continue;
		found.sum += tree.total[i];
		counted = tree.end[i];
	}
	return found;
}
