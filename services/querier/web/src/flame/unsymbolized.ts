// SPDX-License-Identifier: Apache-2.0
/** unnamed - why a frame is an address and not a name, and what can be done about it. */
import { baseName } from "./colors";
import type { Tree } from "./tree";

export interface Advice {
	why: string; // sentences, both
	todo: string;
}

const UPLOAD = "Upload its debug file to the debuginfo service, or give that an upstream server to ask.";

/** What to do, by the API's word. */
const ADVICE: Record<string, string> = {
	no_debug_info: UPLOAD,
	no_symbol: "It may be code made at run time, or assembly. A file with DWARF may know more.",
	unavailable: "See whether the debuginfo service runs, then refresh.",
	malformed: "Upload a whole file: this one was cut off, or is of a kind that is not known.",
	too_large: "docs/limits.md names the limit and the setting that raises it.",
	pending: "Refresh in some seconds.",
	bad_build_id: "Link it with -Wl,--build-id.",
	not_asked: "See whether the symbolizer runs and --symbolizer-url of the querier points to it.",
};

/** Null: the frame has a name. */
export function adviceOn(tree: Tree, node: number): Advice | null {
	if (!tree.names[tree.address[node]]) return null;
	const reason = tree.names[tree.reason[node]] ?? "";
	if (reason) {
		const todo = ADVICE[tree.names[tree.reasonWord[node]]] ?? "";
		return { why: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, todo };
	}
	if (tree.names[tree.buildId[node]]) return { why: "No debug file has told the name of this address yet.", todo: UPLOAD };
	return {
		why: `${baseName(tree.names[tree.binary[node]]) || "The binary"} has no build id, so no debug file can be told to be its own.`,
		todo: "Link it with -Wl,--build-id.",
	};
}
