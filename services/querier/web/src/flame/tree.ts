// SPDX-License-Identifier: Apache-2.0
/**
 * tree - a flame graph as columns: the API's arrays and the columns that drawing needs.
 *
 * Node 0 is "all", the parent of the API's roots; the API does not send it. The rows stay in preorder,
 * so the subtree of node i is the rows i to end[i], without end[i]. `start` is the left edge of a
 * node in the profile's unit. The children of a node are packed to the left; its self time is the
 * remaining width on the right.
 */
import type { FlameResponse } from "../api/responses";

export interface Tree {
	unit: string;
	names: string[];
	count: number;
	depthMax: number;
	levels: number; // of labels below "all": one per label of group_by
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
	reasonCode: Int32Array; // a keyword, see unsymbolized.ts
	builds: Int32Array; // index into buildLists
	buildLists: [path: number, buildId: number][][]; // indices into names; the first list is empty
	sides: Sides | null; // null: not a comparison
	callers: boolean; // an inverted tree: callers.ts
}

/** Two profiles as one tree: the values of each side, by node. */
export interface Sides {
	aSelf: Float64Array;
	aTotal: Float64Array;
	bSelf: Float64Array;
	bTotal: Float64Array;
	relative: boolean;
	aScale: number; // factor for the values of that side before they are compared
	bScale: number;
}

export const ALL = 0;

/** `levels`: the number of label levels. Throws an Error if the columns are not a valid tree. */
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
		reasonCode: column(nodes.reason_code),
		builds: column(nodes.builds),
		buildLists: response.builds ?? [[]],
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
	if (values.length !== rows) throw new Error("the columns of the flame graph differ in length");
	const column = new Int32Array(rows + 1);
	column.set(values, 1);
	return column;
}

/** Computes depth, start and end from parent and total. */
export function place(tree: Tree): void {
	const next = new Float64Array(tree.count); // where a node's next child begins
	for (let i = 1; i < tree.count; i++) {
		const parent = tree.parent[i];
		if (!(parent >= 0 && parent < i)) throw new Error("the nodes of the flame graph are not in preorder");
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

/** True for "all" and the levels of labels: the node is not a function. */
export function isLabel(tree: Tree, node: number): boolean {
	return tree.depth[node] <= tree.levels;
}

export function nameOf(tree: Tree, node: number): string {
	return tree.names[tree.name[node]];
}

/** The paths and the build ids under which the function was found, each once. */
export function buildsOf(tree: Tree, node: number): { paths: string[]; buildIds: string[] } {
	const list = tree.buildLists[tree.builds[node]] ?? [];
	const texts = (at: 0 | 1) => [...new Set(list.map((pair) => tree.names[pair[at]]))].filter((text) => text !== "");
	return { paths: texts(0), buildIds: texts(1) };
}

/** The nodes from "all" to the node, both included. */
export function pathTo(tree: Tree, node: number): number[] {
	const path = [];
	for (let at = node; at >= 0; at = tree.parent[at]) path.push(at);
	return path.reverse();
}

/**
 * Numbers the functions from 0 to functions - 1. Nodes with the same name, binary, file, build id and
 * address are the same function.
 */
export function functionsOf(tree: Tree): Functions {
	const found = cache.get(tree);
	if (found) return found;
	const of = new Int32Array(tree.count);
	const numbers = new Map<string, number>();
	for (let i = 0; i < tree.count; i++) {
		const key = `${tree.name[i]} ${tree.binary[i]} ${tree.file[i]} ${tree.buildId[i]} ${tree.address[i]}`;
		let number = numbers.get(key);
		if (number === undefined) numbers.set(key, (number = numbers.size));
		of[i] = number;
	}
	const made = { of, functions: numbers.size };
	cache.set(tree, made);
	return made;
}

export interface Functions {
	of: Int32Array; // function number, by node
	functions: number;
}

const cache = new WeakMap<Tree, Functions>();
