// SPDX-License-Identifier: Apache-2.0
/**
 * table - the functions of a tree, or of the part below one node, each in one row.
 *
 * `total` counts a stack once, however often the function calls itself in it.
 */
import type { Sort } from "../state/view";
import { functionsOf, isLabel, type Tree } from "./tree";

export interface Row {
	node: number; // one of those that the row is made of: it has the names
	self: number;
	total: number;
	aSelf: number; // of two that are compared; else 0
	aTotal: number;
	bSelf: number;
	bTotal: number;
}

export function rowsFrom(tree: Tree, root: number): Row[] {
	const { of, functions } = functionsOf(tree);
	const rows = new Array<Row | undefined>(functions);
	const until = new Int32Array(functions); // rows of the tree before this are below the function
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

/** Those whose name has the text in it, in any case; sorted, the greatest or "a" first. */
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

/** What a row is sorted by: how much it is, or how much more than before. */
export function sizeOf(tree: Tree, row: Row, what: "self" | "total"): number {
	const { sides } = tree;
	if (!sides) return row[what];
	const [a, b] = what === "self" ? [row.aSelf, row.bSelf] : [row.aTotal, row.bTotal];
	return b * sides.bScale - a * sides.aScale;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
