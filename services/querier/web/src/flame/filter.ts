/** filter - the tree of those stacks alone that have a frame that was found. */
import { place, type Tree } from "./tree";

export function filterTree(tree: Tree, meant: Uint8Array): Tree {
	const kept = new Float64Array(tree.count); // self of stacks that are kept
	const inside = new Uint8Array(tree.count);
	for (let i = 0; i < tree.count; i++) {
		inside[i] = meant[i] || (i > 0 && inside[tree.parent[i]]) ? 1 : 0;
		kept[i] = inside[i] ? tree.self[i] : 0;
	}
	const total = kept.slice();
	for (let i = tree.count - 1; i > 0; i--) total[tree.parent[i]] += total[i];
	const rows: number[] = [];
	for (let i = 0; i < tree.count; i++) if (i === 0 || total[i] > 0) rows.push(i);
	return pick(tree, rows, kept, total);
}

function pick(tree: Tree, rows: number[], self: Float64Array, total: Float64Array): Tree {
	const now = new Int32Array(tree.count).fill(-1); // row before -> row after
	rows.forEach((row, at) => {
		now[row] = at;
	});
	const of = (column: Int32Array) => Int32Array.from(rows, (row) => column[row]);
	const picked: Tree = {
		...tree,
		count: rows.length,
		depthMax: 0,
		parent: Int32Array.from(rows, (row) => (row === 0 ? -1 : now[tree.parent[row]])),
		end: new Int32Array(rows.length),
		depth: new Int32Array(rows.length),
		start: new Float64Array(rows.length),
		self: Float64Array.from(rows, (row) => self[row]),
		total: Float64Array.from(rows, (row) => total[row]),
		name: of(tree.name),
		binary: of(tree.binary),
		file: of(tree.file),
		buildId: of(tree.buildId),
		address: of(tree.address),
		reason: of(tree.reason),
	};
	place(picked);
	return picked;
}
