// SPDX-License-Identifier: Apache-2.0
import type { FlameResponse } from "../src/api/responses";
import { type Tree, treeFrom } from "../src/flame/tree";

interface Branch {
	self: number;
	below: Map<string, Branch>;
}

/** Makes a response of the API from stacks: "main;work;sort" -> 3. A frame is NAME or NAME@BINARY. */
export function responseOf(stacks: Record<string, number>): FlameResponse {
	const root: Branch = { self: 0, below: new Map() };
	for (const [stack, value] of Object.entries(stacks)) {
		let at = root;
		for (const frame of stack.split(";")) {
			const next = at.below.get(frame) ?? { self: 0, below: new Map() };
			at.below.set(frame, next);
			at = next;
		}
		at.self += value;
	}

	const numbers = new Map([["", 0]]);
	const number = (text: string) => {
		if (!numbers.has(text)) numbers.set(text, numbers.size);
		return numbers.get(text) as number;
	};
	const nodes: FlameResponse["nodes"] = { parent: [], name: [], binary: [], file: [], build_id: [], address: [], self: [], total: [] };
	const put = (branch: Branch, parent: number): number => {
		let sum = branch.self;
		for (const [frame, child] of [...branch.below].sort(([a], [b]) => (a < b ? -1 : 1))) {
			const at = nodes.parent.length;
			const [name, binary] = frame.split("@");
			nodes.parent.push(parent);
			nodes.name.push(number(name));
			nodes.binary.push(number(binary ?? "/bin/prog"));
			nodes.file.push(0);
			nodes.build_id.push(0);
			nodes.address.push(name.includes("+0x") ? number(name.slice(name.indexOf("0x"))) : 0);
			nodes.self.push(child.self);
			nodes.total.push(0);
			nodes.total[at] = put(child, at);
			sum += nodes.total[at];
		}
		return sum;
	};
	const total = put(root, -1);
	return { unit: "nanoseconds", total, names: [...numbers.keys()], nodes };
}

export function treeOf(stacks: Record<string, number>): Tree {
	return treeFrom(responseOf(stacks));
}

/** The first node with that name. */
export function nodeNamed(tree: Tree, name: string): number {
	for (let i = 0; i < tree.count; i++) if (tree.names[tree.name[i]] === name) return i;
	throw new Error(`there is no ${name}`);
}

/** A pseudo-random tree of about `count` nodes, the same for the same seed: for properties of any tree. */
export function randomTree(count: number, seed = 1): Tree {
	let state = seed;
	const random = (below: number) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state % below;
	};
	const stacks: Record<string, number> = {};
	for (let i = 0; i < count / 4; i++) {
		const depth = 1 + random(12);
		const frames = Array.from({ length: depth }, (_, at) => `f${random(at + 2)}`);
		stacks[frames.join(";")] = 1 + random(50);
	}
	return treeOf(stacks);
}
