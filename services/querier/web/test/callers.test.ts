// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { callersOf } from "../src/flame/callers";
import { ALL, type Tree, treeFrom } from "../src/flame/tree";
import { responseOf, nodeNamed, randomTree, treeOf } from "./tree_of";

/** "leaf;caller;..." -> self value of the node where the path ends. */
function stacksOf(tree: Tree): Record<string, number> {
	const found: Record<string, number> = {};
	for (let i = 1; i < tree.count; i++) {
		if (tree.self[i] === 0) continue;
		const path = [];
		for (let at = i; at > 0; at = tree.parent[at]) path.unshift(tree.names[tree.name[at]]);
		found[path.join(";")] = tree.self[i];
	}
	return found;
}

const calls = { "main;work;sort": 5, "main;work": 2, "main;idle;sort": 3, "sort;sort": 4 };

describe("callers", () => {
	it("of every function lead from the self time to the root", () => {
		expect(stacksOf(callersOf(treeOf(calls), null))).toEqual({ "sort;work;main": 5, "sort;idle;main": 3, "sort;sort": 4, "work;main": 2 });
	});

	it("of one function have its total time, each stack once", () => {
		const tree = callersOf(treeOf(calls), "sort");
		expect(stacksOf(tree)).toEqual({ "sort;work;main": 5, "sort;idle;main": 3, sort: 4 });
		expect(tree.total[ALL]).toBe(12);
		expect(stacksOf(callersOf(treeOf(calls), "work"))).toEqual({ "work;main": 7 });
		expect(callersOf(treeOf(calls), "missing").count).toBe(1);
	});

	it("stay below their labels", () => {
		const tree = treeFrom(responseOf({ "comm=a;main;sort": 1, "comm=b;main;sort": 2, "comm=b;main": 4 }), 1);
		expect(stacksOf(callersOf(tree, null))).toEqual({ "comm=a;sort;main": 1, "comm=b;sort;main": 2, "comm=b;main": 4 });
	});

	it("add up to the original total if all rows are above the minimum share", () => {
		const tree = randomTree(300);
		const inverted = callersOf(tree, null);
		expect(inverted.total[ALL]).toBe(tree.total[ALL]);
		expect(Object.values(stacksOf(inverted)).reduce((sum, value) => sum + value, 0)).toBe(tree.total[ALL]);
	});

	it("below the minimum share are not followed, but are counted", () => {
		const inverted = callersOf(treeOf({ "a;b;c": 1e6, "x;y;z": 1 }), null);
		expect(() => nodeNamed(inverted, "y")).toThrow();
		expect(inverted.total[nodeNamed(inverted, "z")]).toBe(1);
	});
});
