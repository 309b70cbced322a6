// SPDX-License-Identifier: Apache-2.0
/** unsymbolized - why a frame has an address and no function name, and what the user can do about it. */
import { baseName } from "./colors";
import type { Tree } from "./tree";

export interface Advice {
	why: string; // a sentence
	todo: string; // sentences; "": no advice
}

const UPLOAD = "Upload its debug file to the debuginfo service, or configure an upstream server there.";

/** Advice by the API's keyword. */
const ADVICE: Record<string, string> = {
	no_debug_info: UPLOAD,
	no_symbol: "It may be generated code or assembly. A debug file with DWARF may have more symbols.",
	unavailable: "Check that the debuginfo service runs, then refresh.",
	malformed: "Upload the complete file: this one is truncated or has an unknown format.",
	too_large: "docs/limits.md lists the limit and the setting that raises it.",
	pending: "Refresh in a few seconds.",
	bad_build_id: "Link the binary with -Wl,--build-id.",
	no_response: "Check that the symbolizer runs and that --symbolizer-url of the querier points to it.",
	no_file: "No file has names for it.",
	no_build_id: "Link the binary with -Wl,--build-id.",
};

/** The advice on a frame; null: the frame has a name. */
export function adviceOn(tree: Tree, node: number): Advice | null {
	if (!tree.names[tree.address[node]]) return null;
	const reason = tree.names[tree.reason[node]] ?? "";
	if (reason) {
		const todo = ADVICE[tree.names[tree.reasonCode[node]]] ?? "";
		return { why: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, todo };
	}
	if (tree.names[tree.buildId[node]]) return { why: "No debug file has provided a name for this address yet.", todo: UPLOAD };
	return {
		why: `${baseName(tree.names[tree.binary[node]]) || "The binary"} has no build id, so no debug file can be matched to it.`,
		todo: "Link the binary with -Wl,--build-id.",
	};
}

/** The part of a profile whose innermost function is unknown. */
export interface Unnamed {
	value: number;
	binaries: { name: string; value: number }[]; // the greatest first; "": code in no file
}

export function unnamedOf(tree: Tree): Unnamed {
	const values = new Map<string, number>();
	let value = 0;
	for (let node = 0; node < tree.count; node++) {
		if (!tree.self[node] || !tree.names[tree.address[node]]) continue;
		const name = baseName(tree.names[tree.binary[node]]);
		values.set(name, (values.get(name) ?? 0) + tree.self[node]);
		value += tree.self[node];
	}
	const binaries = [...values].map(([name, value]) => ({ name, value }));
	return { value, binaries: binaries.sort((a, b) => b.value - a.value) };
}
