// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { Boxes, type Viewport, layout, NARROW, nodeAt, rowsOf } from "../src/flame/layout";
import { ALL, type Tree } from "../src/flame/tree";
import { nodeNamed, randomTree, treeOf } from "./tree_of";

const tree = treeOf({ "a;b": 30, "a;c": 50, a: 20, d: 100 });

function viewportOn(at: Tree, node: number, more: Partial<Viewport> = {}): Viewport {
	return { from: at.start[node], to: at.start[node] + at.total[node], width: 1000, top: 0, height: 400, row: 20, ...more };
}

function boxesOf(at: Tree, viewport: Viewport) {
	const boxes = new Boxes();
	layout(at, viewport, boxes);
	return Array.from({ length: boxes.count }, (_, i) => ({
		node: boxes.node[i],
		name: boxes.node[i] === NARROW ? "narrow" : at.names[at.name[boxes.node[i]]],
		depth: boxes.depth[i],
		left: boxes.left[i],
		right: boxes.right[i],
	}));
}

describe("layout", () => {
	it("gives each node its share of the width", () => {
		const boxes = boxesOf(tree, viewportOn(tree, ALL));
		expect(boxes.map(({ name, depth, left, right }) => [name, depth, left, right])).toEqual([
			["all", 0, 0, 1000],
			["a", 1, 0, 500],
			["b", 2, 0, 150],
			["c", 2, 150, 400],
			["d", 1, 500, 1000],
		]);
	});

	it("fills the width with the zoomed node and its ancestors", () => {
		const boxes = boxesOf(tree, viewportOn(tree, nodeNamed(tree, "c")));
		expect(boxes.map(({ name, left, right }) => [name, left, right])).toEqual([
			["all", 0, 1000],
			["a", 0, 1000],
			["c", 0, 1000],
		]);
	});

	it("skips rows outside of the scrolled area", () => {
		const boxes = boxesOf(tree, viewportOn(tree, ALL, { top: 25, height: 10 }));
		expect(boxes.map(({ name }) => name)).toEqual(["a", "d"]);
	});

	it("merges adjacent narrow nodes into one box", () => {
		const many: Record<string, number> = { z: 10_000 };
		for (let i = 0; i < 50; i++) many[`a${String(i).padStart(2, "0")}`] = 1;
		const wide = treeOf(many);
		const narrow = boxesOf(wide, viewportOn(wide, ALL)).filter(({ node }) => node === NARROW);
		expect(narrow).toHaveLength(1);
		expect(narrow[0].right).toBeCloseTo(4.98, 1);
	});

	it("never overlaps boxes of a row or exceeds the width, at any zoom", () => {
		const any = randomTree(3000, 3);
		for (const node of [ALL, 5, 60, any.count >> 1]) {
			const boxes = boxesOf(any, viewportOn(any, node, { height: 4000 }));
			const ends = new Map<number, number>();
			for (const { depth, left, right } of boxes) {
				expect(left).toBeGreaterThanOrEqual((ends.get(depth) ?? 0) - 1e-6);
				expect(right).toBeLessThanOrEqual(1000 + 1e-6);
				ends.set(depth, right);
			}
		}
	});

	it("makes boxes only for what is visible", () => {
		const any = randomTree(40_000, 5);
		expect(boxesOf(any, viewportOn(any, ALL, { width: 100, height: 200 })).length).toBeLessThan(100 * 10);
	});
});

describe("the node at a point", () => {
	it("is the node that is drawn there", () => {
		const any = randomTree(2000, 9);
		const viewport = viewportOn(any, 20, { height: 2000 });
		for (const box of boxesOf(any, viewport)) {
			if (box.node === NARROW) continue;
			expect(nodeAt(any, viewport, (box.left + box.right) / 2, box.depth * 20 + 5)).toBe(box.node);
		}
	});

	it("is -1 at an empty place", () => {
		const viewport = viewportOn(tree, ALL);
		expect(nodeAt(tree, viewport, 450, 45)).toBe(-1); // self time of a
		expect(nodeAt(tree, viewport, 100, 390)).toBe(-1);
		expect(nodeAt(tree, viewport, -1, 5)).toBe(-1);
	});
});

it("counts the rows of a subtree", () => {
	expect(rowsOf(tree, ALL)).toBe(3);
	expect(rowsOf(tree, nodeNamed(tree, "d"))).toBe(2);
});
