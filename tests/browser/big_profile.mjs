// SPDX-License-Identifier: Apache-2.0
/**
 * big_profile - flame graph responses of any size, the same for the same size.
 *
 * Stacks are like those of programs: most frames follow an existing path, and some start a new
 * branch. So there are few wide frames and very many narrow ones, as in the profile of a fleet.
 */

const NODES_PER_FUNCTION = 12;
const BINARIES = ["/usr/bin/checkout", "/usr/bin/search", "/usr/lib/jvm/libjvm.so", "/usr/lib/libc.so.6", "[kernel]", "/usr/bin/postgres"];
const WORDS = ["read", "write", "Encode", "flush", "lookup", "poll", "Tree", "insert", "hash", "parse", "send", "merge", "visit", "copy", "alloc"];
const TICK = 52_631_578; // nanoseconds, at 19 Hz

/** A response of report=flamegraph with exactly `nodes` nodes. */
export function flameResponse(nodes) {
	const random = randomFrom(nodes);
	const functions = Math.ceil(nodes / NODES_PER_FUNCTION);
	const root = { children: [], self: 0, total: 0 };
	for (let count = 0; count < nodes; ) count += grow(root, random, functions, nodes - count);
	return columnsOf(root, functions);
}

/** Adds one stack; returns the number of new nodes. */
function grow(root, random, functions, room) {
	const depth = 12 + Math.floor(random() * 40);
	const ticks = 1 + Math.floor(random() ** 8 * 400);
	let [at, made] = [root, 0];
	for (let level = 0; level < depth; level++) {
		const along = made === 0 && at.children.length > 0 && random() < 0.93;
		if (!along && made === room) break;
		// The first child is chosen most often, so it becomes the widest.
		const next = along
			? at.children[Math.floor(random() ** 3 * at.children.length)]
			: { function: Math.floor(random() * functions), children: [], self: 0 };
		if (!along) {
			at.children.push(next);
			made++;
		}
		at = next;
	}
	at.self += ticks * TICK;
	return made;
}

function columnsOf(root, functions) {
	const names = ["", ...BINARIES, ...Array.from({ length: functions }, (_, i) => nameOf(i))];
	const nodes = { parent: [], name: [], binary: [], file: [], build_id: [], address: [], reason: [], self: [], total: [] };
	const put = (node, parent) => {
		const at = nodes.parent.length;
		nodes.parent.push(parent);
		nodes.name.push(1 + BINARIES.length + node.function);
		nodes.binary.push(1 + (node.function % BINARIES.length));
		for (const name of ["file", "build_id", "address", "reason"]) nodes[name].push(0);
		nodes.self.push(node.self);
		nodes.total.push(0);
		nodes.total[at] = node.self + putAll(node.children, at);
		return nodes.total[at];
	};
	const putAll = (children, parent) => children.reduce((sum, child) => sum + put(child, parent), 0);
	const total = putAll(root.children, -1);
	return { unit: "nanoseconds", total, names, nodes };
}

function nameOf(number) {
	const word = (by) => WORDS[Math.floor(number / by) % WORDS.length];
	return `${word(1)}::${word(15)}${word(225)}<${number}>::${word(7)}(std::basic_string_view<char>, unsigned long)`;
}

/** A pseudo-random number from 0 to 1: mulberry32. */
function randomFrom(seed) {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
