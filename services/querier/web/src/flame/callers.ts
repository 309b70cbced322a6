// SPDX-License-Identifier: Apache-2.0
/**
 * callers - the inverted tree: from each function to its callers.
 *
 * For all functions: each function's self time, split by its callers. For one function: its total
 * time, split by its callers. Levels of labels stay on top. A row below MIN_SHARE of the whole gets no
 * children, because many different stacks would make far more nodes than the original tree has. For
 * one function the whole is that function's total.
 */
import { ALL, functionsOf, isLabel, nameOf, place, type Tree } from "./tree";

export const MIN_SHARE = 1e-4;

/** `name` null: the callers of every function. */
export function callersOf(tree: Tree, name: string | null): Tree {
	const starts = name === null ? nodesWithSelf(tree) : outermost(tree, name);
	const inverted = new CallerTree(tree, name === null ? "Self" : "Total");
	inverted.put(starts, starts.map(() => ALL), -1, ALL, 0);
	return inverted.tree();
}

/** The nodes that have self time. */
function nodesWithSelf(tree: Tree): number[] {
	const found = [];
	for (let i = 1; i < tree.count; i++) if (tree.self[i] > 0 && !isLabel(tree, i)) found.push(i);
	return found;
}

/** The nodes of that name that are not below another node of the same name. */
function outermost(tree: Tree, name: string): number[] {
	const found = [];
	for (let i = 1; i < tree.count; ) {
		const matches = nameOf(tree, i) === name && !isLabel(tree, i);
		if (matches) found.push(i);
		i = matches ? tree.end[i] : i + 1;
	}
	return found;
}

/** Builds the rows of the inverted tree. */
class CallerTree {
	private readonly from: number[] = []; // by row: a node of the old tree with the same names
	private readonly parent: number[] = [];
	private readonly self: number[][] = [[], [], []]; // by row: of the whole, of each side
	private readonly total: number[][] = [[], [], []];
	private readonly columns: Float64Array[]; // of the old tree: the value of a start node
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

	/** Adds a row for the starts whose paths reached the same function, each at its own node `at`; then the rows of their callers. */
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

	/** Groups the starts by the next function, sorted by name as in other trees. A start without a caller counts as self of the row. */
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

	/** The next node on the path of a start: labels from the top, then the start, then its callers; -1: the path ends. */
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
			reasonCode: of(old.reasonCode),
			builds: of(old.builds),
			sides: old.sides && { ...old.sides, aSelf, bSelf, aTotal, bTotal },
		};
		place(made);
		return made;
	}
}
