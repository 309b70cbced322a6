// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { addMatcher, closeBraces, complete, matchersOf, placeAt, splitQuery } from "../src/selector/text";

/** The place at the "|" in a text. */
function placeIn(text: string) {
	return placeAt(text.replace("|", ""), text.indexOf("|"));
}

describe("the place of the cursor", () => {
	it.each([
		["{|}", "label", ""],
		["{com|}", "label", "com"],
		["{comm|}", "label", "comm"],
		['{comm="a",|}', "label", ""],
		['{comm="a", no|de="b"}', "label", "no"],
		["{comm |}", "op", ""],
		["{comm=|}", "value", ""],
		["{comm=~|}", "value", ""],
		['{comm="|}', "value", '"'],
		['{comm="ng|inx"}', "value", '"ng'],
		['{comm="nginx"|}', "next", ""],
		['{comm="nginx" |}', "next", ""],
		["{}|", "none", ""],
		["|", "none", ""],
	])("in %s is for a %s", (text, kind, typed) => {
		expect(placeIn(text)).toMatchObject({ kind, typed });
	});

	it("has the label of a value, and the other matchers", () => {
		const place = placeIn('{node="n1",comm=~"x|",pod!="p"}');
		expect(place.label).toBe("comm");
		expect(place.others.map(({ label, op, value }) => label + op + value)).toEqual(["node=n1", "pod!=p"]);
	});

	it("parses all kinds of quotes, with escapes", () => {
		const text = String.raw`{a="x\"},{b", b='it\'s', c=` + "`\\d`" + `}`;
		expect(matchersOf(text).map(({ label, value }) => [label, value])).toEqual([
			["a", 'x"},{b'],
			["b", "it's"],
			["c", "\\d"],
		]);
	});
});

describe("completion", () => {
	const completed = (text: string, suggestion: string) => {
		const done = complete(text.replace("|", ""), placeIn(text), suggestion);
		return `${done.text.slice(0, done.cursor)}|${done.text.slice(done.cursor)}`;
	};

	it("adds the operator to a label, and quotes to a value", () => {
		expect(completed("{co|}", "comm")).toBe("{comm=|}");
		expect(completed("{comm=|}", "nginx")).toBe('{comm="nginx"|}');
		expect(completed('{comm="ng|', 'a"b')).toBe('{comm="a\\"b"|');
		expect(completed('{co|="x"}', "comm")).toBe('{comm|="x"}');
	});

	it("adds missing braces", () => {
		expect(closeBraces("")).toBe("{}");
		expect(closeBraces('comm="a"')).toBe('{comm="a"}');
		expect(closeBraces('{comm="a"')).toBe('{comm="a"}');
		expect(closeBraces('{comm="a}"')).toBe('{comm="a}"}');
		expect(closeBraces('{comm="a"}')).toBe('{comm="a"}');
	});
});

describe("a query", () => {
	it("is a type and matchers", () => {
		expect(splitQuery('a:b:c:d:e{x="{"}')).toEqual({ type: "a:b:c:d:e", matchers: '{x="{"}' });
		expect(splitQuery("{}")).toEqual({ type: "", matchers: "{}" });
		expect(splitQuery("a:b:c")).toEqual({ type: "a:b:c", matchers: "{}" });
	});

	it("replaces a matcher of the same label", () => {
		expect(addMatcher("{}", "comm", "=", "a")).toBe('{comm="a"}');
		expect(addMatcher('t{comm=~"a|b",node="n"}', "comm", "=", "a")).toBe('t{node="n",comm="a"}');
		expect(addMatcher('{comm!="a"}', "comm", "!=", "b")).toBe('{comm!="a",comm!="b"}');
		expect(addMatcher("{}", "odd label", "=", 'q"')).toBe('{"odd label"="q\\""}');
	});
});
