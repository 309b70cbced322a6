// SPDX-License-Identifier: Apache-2.0
/**
 * callers - the tree the other way round: from each function to those that called it.
 *
 * Of every function: where time was spent itself, and who led there. Of one: all of its time, below
 * what it is called by. Levels of labels stay on top. What is less than MIN_SHARE of all is not followed
 * further, since stacks that are many and different would make far more nodes than there were; a
 * function alone is followed as far as its own size is worth.
 */
import { ALL, functionsOf, isLabel, nameOf, place, type Tree } from "./tree";

export const MIN_SHARE = 1e-4;

/** null: of every function. */
export function callersOf(tree: Tree, name: string | null): Tree {
	const starts = name === null ? nodesWithSelf(tree) : outermost(tree, name);
	const inverted = new CallerTree(tree, name === null ? "Self" : "Total");
	inverted.put(starts, starts.map(() => ALL), -1, ALL, 0);
	return inverted.tree();
}

/** Those that took time themselves. */
function nodesWithSelf(tree: Tree): number[] {
	const found = [];
	for (let i = 1; i < tree.count; i++) if (tree.self[i] > 0 && !isLabel(tree, i)) found.push(i);
	return found;
}

/** Those of that name that are not below another one of it. */
function outermost(tree: Tree, name: string): number[] {
	const found = [];
	for (let i = 1; i < tree.count; ) {
		const matches = nameOf(tree, i) === name && !isLabel(tree, i);
		if (matches) found.push(i);
		i = matches ? tree.end[i] : i + 1;
	}
	return found;
}

/** The rows of the new tree, while they are made. */
class CallerTree {
	private readonly from: number[] = []; // by row: a node that has its names
	private readonly parent: number[] = [];
	private readonly self: number[][] = [[], [], []]; // by row: of all, of each side
	private readonly total: number[][] = [[], [], []];
	private readonly columns: Float64Array[]; // of the old tree: what a start counts
	private readonly of: Int32Array;
	private whole = 0;

	constructor(
		private readonly old: Tree,
		what: "Self" | "Total",
	) {
		const { sides } = old;
		const whole = what === "Self" ? old.self : old.total;
		this.columns = sides ? [whole, sides[`a${what}`], sides[`b${what}`]] : [whole];
		this.of = functionsOf(old).of;
	}

	/** A row of all starts that have come here together, each at a node of its own; then their callers. */
	put(starts: number[], at: number[], above: number, node: number, depth: number) {
		const row = this.from.length;
		this.from.push(node);
		this.parent.push(above);
		this.columns.forEach((column, i) => {
			this.self[i].push(0);
			this.total[i].push(starts.reduce((sum, start) => sum + column[start], 0));
		});
		if (row === 0) this.whole = this.total[0][0];
		if (row > 0 && this.total[0][row] < MIN_SHARE * this.whole) return;
		for (const [next, group] of this.groups(starts, at, row, depth)) this.put(group.starts, group.at, row, next, depth + 1);
	}

	/** By function, sorted by name as other trees are; who has no caller stays in the row itself. */
	private groups(starts: number[], at: number[], row: number, depth: number): [number, { starts: number[]; at: number[] }][] {
		const groups = new Map<number, { starts: number[]; at: number[] }>();
		starts.forEach((start, i) => {
			const next = this.next(start, at[i], depth);
			if (next < 0) {
				for (const [i, column] of this.columns.entries()) this.self[i][row] += column[start];
				return;
			}
			const group = groups.get(this.of[next]) ?? { starts: [], at: [] };
			groups.set(this.of[next], group);
			group.starts.push(start);
			group.at.push(next);
		});
		const named = [...groups.values()].map((group): [number, typeof group] => [group.at[0], group]);
		return named.sort(([a], [b]) => (nameOf(this.old, a) < nameOf(this.old, b) ? -1 : 1));
	}

	/** Labels from the top, then the start and its callers; -1: there is none. */
	private next(start: number, at: number, depth: number): number {
		const { old } = this;
		if (depth === old.levels) return start;
		if (depth > old.levels) return isLabel(old, old.parent[at]) ? -1 : old.parent[at];
		let label = start;
		while (old.depth[label] > depth + 1) label = old.parent[label];
		return label;
	}

	tree(): Tree {
		const { old, from } = this;
		const of = (column: Int32Array) => Int32Array.from(from, (node) => column[node]);
		const numbers = (values: number[]) => Float64Array.from(values);
		const [aSelf, bSelf] = this.self.slice(1).map(numbers);
		const [aTotal, bTotal] = this.total.slice(1).map(numbers);
		const made: Tree = {
			...old,
			count: from.length,
			depthMax: 0,
			callers: true,
			parent: Int32Array.from(this.parent),
			end: new Int32Array(from.length),
			depth: new Int32Array(from.length),
			start: new Float64Array(from.length),
			self: numbers(this.self[0]),
			total: numbers(this.total[0]),
			name: of(old.name),
			binary: of(old.binary),
			file: of(old.file),
			buildId: of(old.buildId),
			address: of(old.address),
			reason: of(old.reason),
			reasonWord: of(old.reasonWord),
			sides: old.sides && { ...old.sides, aSelf, bSelf, aTotal, bTotal },
		};
		place(made);
		return made;
	}
}
