// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { ALL, buildsOf, functionsOf, pathTo, treeFrom } from "../src/flame/tree";
import { hashOfNode, nodeOfHash } from "../src/flame/path";
import { walk } from "../src/flame/walk";
import { responseOf, nodeNamed, randomTree, treeOf } from "./tree_of";

const tree = treeOf({ "a;b": 3, "a;c": 5, a: 2, d: 10 });

describe("a tree", () => {
	it("puts all roots below one node \"all\"", () => {
		expect(tree.count).toBe(5);
		expect(tree.total[ALL]).toBe(20);
		expect(tree.end[ALL]).toBe(5);
		expect(pathTo(tree, nodeNamed(tree, "c")).map((node) => tree.names[tree.name[node]])).toEqual(["all", "a", "c"]);
	});

	it("packs children to the left and leaves self time on the right", () => {
		const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => nodeNamed(tree, name));
		expect([a, b, c, d].map((node) => tree.start[node])).toEqual([0, 0, 3, 10]);
		expect(tree.end[a]).toBe(d);
		expect(tree.depthMax).toBe(2);
	});

	it("has each node inside its parent", () => {
		const any = randomTree(2000);
		for (let i = 1; i < any.count; i++) {
			const parent = any.parent[i];
			expect(any.start[i]).toBeGreaterThanOrEqual(any.start[parent]);
			expect(any.start[i] + any.total[i]).toBeLessThanOrEqual(any.start[parent] + any.total[parent]);
			expect(any.end[i]).toBeLessThanOrEqual(any.end[parent]);
		}
	});

	it("rejects columns that are not a valid tree", () => {
		const response = responseOf({ "a;b": 1 });
		response.nodes.parent = [-1, 1];
		expect(() => treeFrom(response)).toThrow("not in preorder");
		response.nodes.parent = [-1, 0];
		response.nodes.file = [0];
		expect(() => treeFrom(response)).toThrow("differ in length");
	});

	it("has the paths and build ids of a function, each once", () => {
		const response = responseOf({ a: 1, b: 1 });
		const [one, two, id] = ["/1/prog", "/2/prog", "5f0c"].map((text) => response.names.push(text) - 1);
		response.builds = [[], [[one, id], [two, id], [two, 0]]];
		response.nodes.builds = [1, 0];
		const found = treeFrom(response);
		expect(buildsOf(found, nodeNamed(found, "a"))).toEqual({ paths: ["/1/prog", "/2/prog"], buildIds: ["5f0c"] });
		expect(buildsOf(found, nodeNamed(found, "b"))).toEqual({ paths: [], buildIds: [] });
		expect(buildsOf(tree, nodeNamed(tree, "a")).paths).toEqual([]);
	});

	it("gives the same function the same number everywhere", () => {
		const { of, functions } = functionsOf(treeOf({ "a;x": 1, "b;x": 1, "b;x@/lib/y": 1 }));
		expect(functions).toBe(5); // all, a, b, x, the x of another binary
		expect(of.length).toBe(6);
	});
});

describe("a path in the URL", () => {
	it("finds its node in another response", () => {
		const later = treeOf({ "0;z": 1, "a;b": 30, "a;c;e": 5, d: 1 });
		const c = nodeNamed(tree, "c");
		expect(nodeOfHash(later, hashOfNode(tree, c))).toBe(nodeNamed(later, "c"));
	});

	it("is the root if the path no longer exists", () => {
		expect(nodeOfHash(treeOf({ d: 1 }), hashOfNode(tree, nodeNamed(tree, "b")))).toBe(ALL);
		expect(nodeOfHash(tree, "")).toBe(ALL);
		expect(nodeOfHash(tree, "no hash")).toBe(ALL);
	});

	it("is different for each of many nodes", () => {
		const many = randomTree(8000, 7);
		const hashes = new Set(Array.from({ length: many.count }, (_, node) => hashOfNode(many, node)));
		expect(hashes.size).toBe(many.count);
	});
});

describe("the arrow keys", () => {
	it("go to the parent, the greatest child, and the siblings", () => {
		const [a, b, c] = ["a", "b", "c"].map((name) => nodeNamed(tree, name));
		expect(walk(tree, a, "child")).toBe(c);
		expect(walk(tree, c, "parent")).toBe(a);
		expect(walk(tree, c, "before")).toBe(b);
		expect(walk(tree, b, "after")).toBe(c);
	});

	it("stay if there is no further node", () => {
		const c = nodeNamed(tree, "c");
		expect(walk(tree, c, "child")).toBe(c);
		expect(walk(tree, c, "after")).toBe(c);
		expect(walk(tree, ALL, "parent")).toBe(ALL);
		expect(walk(tree, ALL, "before")).toBe(ALL);
	});
});
