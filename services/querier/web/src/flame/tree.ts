// SPDX-License-Identifier: Apache-2.0
/**
 * tree - a flame graph as columns: the API's arrays with what drawing needs beside them.
 *
 * Node 0 is "all", which the API does not send: the parent of its roots. The rows stay in preorder,
 * so the subtree of node i is the rows i to end[i], without end[i]. `start` is where a node begins,
 * counted in the profile's unit from the left edge; its children stand in it from the left, its
 * self time is what they leave free on the right.
 */
import type { FlameResponse } from "../api/responses";

export interface Tree {
	unit: string;
	names: string[];
	count: number;
	depthMax: number;
	levels: number; // of labels, below "all": a group_by of two has two
	parent: Int32Array;
	end: Int32Array;
	depth: Int32Array;
	start: Float64Array;
	self: Float64Array;
	total: Float64Array;
	name: Int32Array;
	binary: Int32Array;
	file: Int32Array;
	buildId: Int32Array;
	address: Int32Array;
	reason: Int32Array; // a sentence
	reasonWord: Int32Array;
	sides: Sides | null; // of two that are compared
	callers: boolean; // from functions to their callers: callers.ts
}

/** Of two profiles as one tree: what each has in a node. */
export interface Sides {
	aSelf: Float64Array;
	aTotal: Float64Array;
	bSelf: Float64Array;
	bTotal: Float64Array;
	relative: boolean;
	aScale: number; // what a value of that side is multiplied by to be compared
	bScale: number;
}

export const ALL = 0;

/** Throws an Error with a sentence where the columns are no tree. */
export function treeFrom(response: FlameResponse, levels = 0): Tree {
	const { nodes } = response;
	const rows = nodes.parent.length;
	const column = (values: number[] | undefined): Int32Array => withRoot(values ?? new Array(rows).fill(0), rows);
	const tree: Tree = {
		unit: response.unit,
		names: [...response.names, "all"],
		count: rows + 1,
		depthMax: 0,
		levels,
		parent: new Int32Array(rows + 1),
		end: new Int32Array(rows + 1),
		depth: new Int32Array(rows + 1),
		start: new Float64Array(rows + 1),
		self: Float64Array.from([0, ...nodes.self]),
		total: Float64Array.from([response.total, ...nodes.total]),
		name: column(nodes.name),
		binary: column(nodes.binary),
		file: column(nodes.file),
		buildId: column(nodes.build_id),
		address: column(nodes.address),
		reason: column(nodes.reason),
		reasonWord: column(nodes.reason_word),
		sides: null,
		callers: false,
	};
	tree.name[ALL] = response.names.length;
	tree.parent[ALL] = -1;
	for (let i = 0; i < rows; i++) tree.parent[i + 1] = nodes.parent[i] + 1;
	place(tree);
	return tree;
}

function withRoot(values: number[], rows: number): Int32Array {
	if (values.length !== rows) throw new Error("the flame graph's columns are not of one length");
	const column = new Int32Array(rows + 1);
	column.set(values, 1);
	return column;
}

/** Fill in depth, start and end from parent and total. */
export function place(tree: Tree): void {
	const next = new Float64Array(tree.count); // where a node's next child begins
	for (let i = 1; i < tree.count; i++) {
		const parent = tree.parent[i];
		if (!(parent >= 0 && parent < i)) throw new Error("the flame graph's nodes are not in preorder");
		tree.depth[i] = tree.depth[parent] + 1;
		tree.depthMax = Math.max(tree.depthMax, tree.depth[i]);
		tree.start[i] = next[i] = next[parent];
		next[parent] += tree.total[i];
	}
	for (let i = tree.count - 1; i >= 0; i--) {
		tree.end[i] = Math.max(tree.end[i], i + 1);
		if (i > 0) tree.end[tree.parent[i]] = Math.max(tree.end[tree.parent[i]], tree.end[i]);
	}
}

/** Whether the node is a level of labels, or "all": no function. */
export function isLabel(tree: Tree, node: number): boolean {
	return tree.depth[node] <= tree.levels;
}

export function nameOf(tree: Tree, node: number): string {
	return tree.names[tree.name[node]];
}

/** From "all" to the node, both in it. */
export function pathTo(tree: Tree, node: number): number[] {
	const path = [];
	for (let at = node; at >= 0; at = tree.parent[at]) path.push(at);
	return path.reverse();
}

/**
 * Numbers that mean the same function wherever it stands: name, binary, file, build id and address
 * together. Of as many as `count`, the numbers are 0 to functions - 1.
 */
export function functionsOf(tree: Tree): Functions {
	const found = known.get(tree);
	if (found) return found;
	const of = new Int32Array(tree.count);
	const seen = new Map<string, number>();
	for (let i = 0; i < tree.count; i++) {
		const key = `${tree.name[i]} ${tree.binary[i]} ${tree.file[i]} ${tree.buildId[i]} ${tree.address[i]}`;
		let number = seen.get(key);
		if (number === undefined) seen.set(key, (number = seen.size));
		of[i] = number;
	}
	const made = { of, functions: seen.size };
	known.set(tree, made);
	return made;
}

export interface Functions {
	of: Int32Array; // by node
	functions: number;
}

const known = new WeakMap<Tree, Functions>();
