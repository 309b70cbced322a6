// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { filterTree } from "../src/flame/filter";
import { search, searchFor, testFrom } from "../src/flame/search";
import { arrange, rowsFrom } from "../src/flame/table";
import { ALL, type Tree } from "../src/flame/tree";
import { nodeNamed, randomTree, treeOf } from "./tree_of";

const tree = treeOf({ "main;Sort;sort": 10, "main;resort": 5, "main;wait": 25, idle: 60 });

function find(text: string, at: Tree = tree) {
	const test = testFrom(text);
	return test && search(at, test);
}

describe("search", () => {
	it("matches part of a name, case-insensitive", () => {
		expect(find("SORT")).toMatchObject({ count: 3, sum: 15 });
	});

	it("counts a stack once, even if several of its frames match", () => {
		expect(find("sort")?.sum).toBe(15);
		expect(find("main")?.sum).toBe(40);
	});

	it("matches an expression between slashes, and a whole name in quotes", () => {
		expect(find("/^(re)?sort$/")).toMatchObject({ count: 3, sum: 15 });
		expect(find(searchFor("sort"))).toMatchObject({ count: 1, sum: 10 });
		expect(find(searchFor('a "b"'), treeOf({ 'a "b"': 1 }))?.count).toBe(1);
	});

	it("is null for an empty text, and throws for an invalid expression", () => {
		expect(testFrom("")).toBeNull();
		expect(() => testFrom("/(/")).toThrow();
	});

	it("never matches the root, which is not part of the profile", () => {
		expect(find("all")?.count).toBe(0);
	});
});

describe("only the matched stacks", () => {
	it("keep the frames above and below a matched frame", () => {
		const only = filterTree(tree, find("Sort")?.nodes as Uint8Array);
		expect(only.total[ALL]).toBe(15);
		expect(only.total[nodeNamed(only, "main")]).toBe(15);
		expect(only.self[nodeNamed(only, "sort")]).toBe(10);
		expect(() => nodeNamed(only, "wait")).toThrow();
	});

	it("have the same sum as the search, for any search", () => {
		const any = randomTree(2000, 11);
		for (const text of ["f1", "f3", "/f[2-5]/"]) {
			const found = find(text, any);
			expect(filterTree(any, found?.nodes as Uint8Array).total[ALL]).toBe(found?.sum);
		}
	});
});

describe("the table", () => {
	it("counts a recursive function once", () => {
		const own = treeOf({ "f;g;f": 4, f: 1 });
		const rows = arrange(own, rowsFrom(own, ALL), "", "total", false);
		expect(rows.map(({ node, self, total }) => [own.names[own.name[node]], self, total])).toEqual([
			["f", 5, 5],
			["g", 0, 4],
		]);
	});

	it("has all self time, and only the functions below the zoom", () => {
		expect(rowsFrom(tree, ALL).reduce((sum, row) => sum + row.self, 0)).toBe(100);
		expect(rowsFrom(tree, nodeNamed(tree, "main")).map((row) => row.total).sort((a, b) => b - a)).toEqual([40, 25, 10, 10, 5]);
	});

	it("is sorted, reversed and filtered", () => {
		const names = (text: string, sort: "self" | "name", up: boolean) =>
			arrange(tree, rowsFrom(tree, ALL), text, sort, up).map(({ node }) => tree.names[tree.name[node]]);
		expect(names("", "self", false).slice(0, 3)).toEqual(["idle", "wait", "sort"]);
		expect(names("", "name", false)[0]).toBe("Sort");
		expect(names("", "name", true)[0]).toBe("wait");
		expect(names("SORT", "self", false)).toEqual(["sort", "resort", "Sort"]);
	});
});
