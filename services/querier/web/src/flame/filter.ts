// SPDX-License-Identifier: Apache-2.0
/** filter - the tree of only the stacks that contain a matched frame. */
import { place, type Tree } from "./tree";

export function filterTree(tree: Tree, matched: Uint8Array): Tree {
	const inside = new Uint8Array(tree.count); // 1: a matched frame, or below one
	for (let i = 0; i < tree.count; i++) inside[i] = matched[i] || (i > 0 && inside[tree.parent[i]]) ? 1 : 0;
	const keep = (self: Float64Array) => self.map((value, i) => (inside[i] ? value : 0));
	const self = keep(tree.self);
	const total = sums(tree, self);
	const rows: number[] = [];
	for (let i = 0; i < tree.count; i++) if (i === 0 || total[i] > 0) rows.push(i);
	const picked = pick(tree, rows, self, total);
	if (!tree.sides) return picked;

	const of = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]);
	const [aSelf, bSelf] = [keep(tree.sides.aSelf), keep(tree.sides.bSelf)];
	const [aTotal, bTotal] = [sums(tree, aSelf), sums(tree, bSelf)];
	picked.sides = { ...tree.sides, aSelf: of(aSelf), bSelf: of(bSelf), aTotal: of(aTotal), bTotal: of(bTotal) };
	return picked;
}

/** Totals from self values. */
function sums(tree: Tree, self: Float64Array): Float64Array {
	const total = self.slice();
	for (let i = tree.count - 1; i > 0; i--) total[tree.parent[i]] += total[i];
	return total;
}

function pick(tree: Tree, rows: number[], self: Float64Array, total: Float64Array): Tree {
	const now = new Int32Array(tree.count).fill(-1); // old row -> new row
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
		reasonCode: of(tree.reasonCode),
		builds: of(tree.builds),
	};
	place(picked);
	return picked;
}
