// SPDX-License-Identifier: Apache-2.0
/** walk - where the arrow keys lead in a tree. */
import { ALL, type Tree } from "./tree";

export type Step = "parent" | "child" | "before" | "after";

/** The node in that direction; the same one where there is none. A child is the greatest one. */
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
