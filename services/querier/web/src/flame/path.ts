// SPDX-License-Identifier: Apache-2.0
/**
 * path - identifies a node in a URL by a hash over the functions from the root to the node.
 *
 * So a zoom applies to a later response of the same query if that path still exists, and the length
 * of a link does not depend on the depth of the stack.
 */
import { ALL, type Tree } from "./tree";

/** "" is the root. */
export function hashOfNode(tree: Tree, node: number): string {
	return node === ALL ? "" : hashes(tree)[node].toString(36);
}

/** The node with that hash, or the root if no node has it. */
export function nodeOfHash(tree: Tree, hash: string): number {
	const wanted = /^[0-9a-z]{1,11}$/.test(hash) ? Number.parseInt(hash, 36) : 0;
	return wanted ? Math.max(hashes(tree).indexOf(wanted), ALL) : ALL;
}

const cache = new WeakMap<Tree, Float64Array>();

function hashes(tree: Tree): Float64Array {
	const found = cache.get(tree);
	if (found) return found;
	const names = tree.names.map(hashText);
	const made = new Float64Array(tree.count);
	for (let i = 1; i < tree.count; i++) {
		const own = names[tree.name[i]] ^ Math.imul(names[tree.binary[i]], 31);
		made[i] = mix(made[tree.parent[i]], own);
	}
	cache.set(tree, made);
	return made;
}

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

/** A 52-bit hash in two halves, so that collisions among 100,000 nodes are unlikely. */
function mix(before: number, own: number): number {
	const high = Math.floor(before / 0x4000000);
	const low = before % 0x4000000;
	const a = Math.imul(high ^ own, 0x9e3779b1);
	const b = Math.imul(low ^ own ^ (a >>> 7), 0x85ebca6b);
	return ((a ^ (b >>> 13)) >>> 6) * 0x4000000 + ((b ^ (a >>> 11)) >>> 6);
}
