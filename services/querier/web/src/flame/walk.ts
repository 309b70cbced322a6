// SPDX-License-Identifier: Apache-2.0
/** walk - moves through a tree with the arrow keys. */
import { ALL, type Tree } from "./tree";

export type Step = "parent" | "child" | "before" | "after";

/** The next node in that direction, or the same node if there is none. "child" is the greatest child. */
export function walk(tree: Tree, node: number, step: Step): number {
	switch (step) {
		case "parent":
			return node === ALL ? ALL : tree.parent[node];
		case "child":
			return greatest(tree, node);
		case "before":
			return beside(tree, node, -1);
		case "after":
			return beside(tree, node, 1);
	}
}

export function children(tree: Tree, node: number): number[] {
	const found = [];
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) found.push(child);
	return found;
}

function greatest(tree: Tree, node: number): number {
	return children(tree, node).reduce(
		(best, child) => (best === node || tree.total[child] > tree.total[best] ? child : best),
		node,
	);
}

function beside(tree: Tree, node: number, by: number): number {
	if (node === ALL) return ALL;
	const siblings = children(tree, tree.parent[node]);
	return siblings[siblings.indexOf(node) + by] ?? node;
}
