// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { treeFrom } from "../src/flame/tree";
import { adviceOn, unnamedOf } from "../src/flame/unsymbolized";
import { nodeNamed, responseOf, treeOf } from "./tree_of";

/** The advice on the frame prog+0x10 of a binary with a build id, for a reason from the API. */
function adviceFor(reason = "", word = "", buildId = "c0ffee") {
	const response = responseOf({ "main;prog+0x10": 1 });
	const number = (text: string) => (text ? response.names.push(text) - 1 : 0);
	const one = (text: string) => response.nodes.parent.map((_, row) => (row === 1 ? number(text) : 0));
	response.nodes.build_id = one(buildId);
	response.nodes.reason = one(reason);
	response.nodes.reason_code = one(word);
	const tree = treeFrom(response);
	return adviceOn(tree, nodeNamed(tree, "prog+0x10"));
}

describe("the advice on a frame without a name", () => {
	it("is the API's sentence and the advice for its keyword, independent of the sentence", () => {
		expect(adviceFor("it is still being read", "pending")).toEqual({ why: "It is still being read.", todo: "Refresh in a few seconds." });
		expect(adviceFor("any sentence", "no_response")?.todo).toMatch(/--symbolizer-url/);
		expect(adviceFor("any sentence", "no_debug_info")?.todo).toMatch(/^Upload/);
	});

	it("is only the sentence if the keyword is unknown", () => {
		expect(adviceFor("something new", "something_new")).toEqual({ why: "Something new.", todo: "" });
	});

	it("names what is missing if the API gives no reason", () => {
		expect(adviceFor()?.why).toMatch(/No debug file/);
		expect(adviceFor("", "", "")?.todo).toBe("Link the binary with -Wl,--build-id.");
	});

	it("is null if there is a name", () => {
		const tree = treeFrom(responseOf({ main: 1 }));
		expect(adviceOn(tree, nodeNamed(tree, "main"))).toBeNull();
	});
});

describe("the part of a profile without names", () => {
	it("is the self time of addresses, by binary", () => {
		const found = unnamedOf(treeOf({ "main;prog+0x10": 3, "main;prog+0x20": 4, "main;x+0x1@/lib/x.so": 9, "main;prog+0x10;named": 50, main: 5 }));
		expect(found).toEqual({
			value: 16,
			binaries: [
				{ name: "x.so", value: 9 },
				{ name: "prog", value: 7 },
			],
		});
	});

	it("is nothing if all leaves have names", () => {
		expect(unnamedOf(treeOf({ "main;prog+0x10;work": 3 }))).toEqual({ value: 0, binaries: [] });
	});
});
