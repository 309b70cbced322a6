// SPDX-License-Identifier: Apache-2.0
/**
 * table - the functions of a tree, or of the subtree of one node, one row per function.
 *
 * `total` counts a stack once, even if the function occurs in it several times (recursion).
 */
import type { Sort } from "../state/view";
import { functionsOf, isLabel, type Tree } from "./tree";

export interface Row {
	node: number; // one of the nodes of this function, for its names
	self: number;
	total: number;
	aSelf: number; // of a comparison; otherwise 0, as the three below
	aTotal: number;
	bSelf: number;
	bTotal: number;
}

export function rowsFrom(tree: Tree, root: number): Row[] {
	const { of, functions } = functionsOf(tree);
	const rows = new Array<Row | undefined>(functions);
	const until = new Int32Array(functions); // rows of the tree before this one are below the function
	for (let i = root; i < tree.end[root]; i++) {
		if (isLabel(tree, i)) continue;
		const row = (rows[of[i]] ??= { node: i, self: 0, total: 0, aSelf: 0, aTotal: 0, bSelf: 0, bTotal: 0 });
		const { sides } = tree;
		row.self += tree.self[i];
		if (sides) {
			row.aSelf += sides.aSelf[i];
			row.bSelf += sides.bSelf[i];
		}
		if (i < until[of[i]]) continue;
		row.total += tree.total[i];
		if (sides) {
			row.aTotal += sides.aTotal[i];
			row.bTotal += sides.bTotal[i];
		}
		until[of[i]] = tree.end[i];
	}
	return rows.filter((row) => row !== undefined);
}

/** The rows whose name contains the text (case-insensitive), sorted: greatest value first, or by name from "a"; `up` reverses. */
export function arrange(tree: Tree, rows: Row[], text: string, sort: Sort, up: boolean): Row[] {
	const wanted = text.toLowerCase();
	const name = (row: Row) => tree.names[tree.name[row.node]];
	const order = (a: Row, b: Row): number =>
		sort === "name"
			? compare(name(a), name(b))
			: sizeOf(tree, b, sort) - sizeOf(tree, a, sort) || b.total - a.total || compare(name(a), name(b));
	const found = (wanted ? rows.filter((row) => name(row).toLowerCase().includes(wanted)) : [...rows]).sort(order);
	return up ? found.reverse() : found;
}

/** The sort key of a row: its value, or in a comparison its increase. */
export function sizeOf(tree: Tree, row: Row, what: "self" | "total"): number {
	const { sides } = tree;
	if (!sides) return row[what];
	const [a, b] = what === "self" ? [row.aSelf, row.bSelf] : [row.aTotal, row.bTotal];
	return b * sides.bScale - a * sides.aScale;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
