// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { treeFrom } from "../src/flame/tree";
import { adviceOn } from "../src/flame/unsymbolized";
import { responseOf, nodeNamed } from "./tree_of";

/** The frame prog+0x10 of a binary with a build id, with what the API says of it. */
function unnamed(reason = "", word = "", buildId = "c0ffee") {
	const response = responseOf({ "main;prog+0x10": 1 });
	const number = (text: string) => (text ? response.names.push(text) - 1 : 0);
	const one = (text: string) => response.nodes.parent.map((_, row) => (row === 1 ? number(text) : 0));
	response.nodes.build_id = one(buildId);
	response.nodes.reason = one(reason);
	response.nodes.reason_word = one(word);
	const tree = treeFrom(response);
	return adviceOn(tree, nodeNamed(tree, "prog+0x10"));
}

describe("what is said of a frame without a name", () => {
	it("is the API's sentence, and what helps by its word, however the sentence is put", () => {
		expect(unnamed("it is still being read", "pending")).toEqual({ why: "It is still being read.", todo: "Refresh in some seconds." });
		expect(unnamed("any sentence", "not_asked")?.todo).toMatch(/--symbolizer-url/);
		expect(unnamed("any sentence", "no_debug_info")?.todo).toMatch(/^Upload/);
	});

	it("is the sentence alone where the word is not known here", () => {
		expect(unnamed("something new", "something_new")).toEqual({ why: "Something new.", todo: "" });
	});

	it("says what is missing where nobody was asked", () => {
		expect(unnamed()?.why).toMatch(/No debug file/);
		expect(unnamed("", "", "")?.todo).toBe("Link it with -Wl,--build-id.");
	});

	it("is nothing where there is a name", () => {
		const tree = treeFrom(responseOf({ main: 1 }));
		expect(adviceOn(tree, nodeNamed(tree, "main"))).toBeNull();
	});
});
