// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { formatDuration, formatRange, parseDuration, parseRange, resolveRange } from "../src/state/range";
import { displayToHash, followsNow, START, type View, viewFromUrl, viewToUrl } from "../src/state/view";

function back(view: View): View {
	const [path, query] = viewToUrl(view).split("?");
	return viewFromUrl(path, query ?? "");
}

describe("a view", () => {
	it("has only the path if all fields have their defaults", () => {
		expect(viewToUrl(START)).toBe("/");
		expect(viewToUrl({ ...START, page: "fleet" })).toBe("/fleet");
	});

	it("is restored completely from its URL", () => {
		const view: View = {
			page: "explore",
			query: 'memory:inuse_space:bytes:space:bytes{comm="a&b=c\\"d",pod=~"web-.*"}',
			range: { from: 1787479200.25, to: 1787482800 },
			pin: { start: 1787479200, end: 1787479215 },
			by: "",
			group: "",
			panes: "flame",
			search: "/a+b|c d/",
			only: true,
			callers: "std::sort<a, b>",
			zoom: "abc123",
			sort: "name",
			up: true,
			rows: "ü%",
			color: "package",
			before: '{version="1"}',
			beforeRange: { last: 86400 },
			mode: "absolute",
			refresh: 10,
			share: "0123456789abcdef0123456789abcdef",
		};
		expect(back(view)).toEqual(view);
		expect(back({ ...START, range: { last: 900 } })).toEqual({ ...START, range: { last: 900 } });
	});

	it("uses the default for an invalid parameter", () => {
		expect(viewFromUrl("/", "range=soon&pin=5..4&panes=all&sort=&color=red&share=../x&more=1&refresh=1s")).toEqual(START);
		expect(viewFromUrl("/nowhere", "")).toEqual(START);
	});
});

describe("the display settings of a view", () => {
	it("follow the # of a link without the query, and can be restored", () => {
		const view: View = { ...START, page: "compare", query: "{a=\"b\"}", range: { last: 60 }, search: "a b", zoom: "x1", mode: "relative" };
		const hash = displayToHash(view);
		expect(hash).toBe("#search=a+b&zoom=x1&mode=relative");
		expect(viewFromUrl("/compare", `share=${"0".repeat(32)}&${hash.slice(1)}`)).toEqual({
			...START,
			page: "compare",
			share: "0".repeat(32),
			search: "a b",
			zoom: "x1",
			mode: "relative",
		});
		expect(displayToHash(START)).toBe("");
	});

	it("change with the current time if the range is relative", () => {
		const fixed = { from: 1, to: 2 };
		expect(followsNow(START)).toBe(true);
		expect(followsNow({ ...START, range: fixed })).toBe(false);
		expect(followsNow({ ...START, page: "compare", range: fixed, beforeRange: { last: 60 } })).toBe(true);
		expect(followsNow({ ...START, share: "0".repeat(32) })).toBe(false);
	});
});

describe("a range", () => {
	it.each([
		["1h", 3600],
		["90m", 5400],
		["1d12h", 129600],
		["1h30m", 5400],
		["45s", 45],
		[" 2h ", 7200],
	])("%s is %i seconds", (text, seconds) => expect(parseDuration(text)).toBe(seconds));

	it.each(["", "0s", "h", "1", "1x", "-1h", "1m1h", "99999999999999999999d"])("%s is not a duration", (text) =>
		expect(parseDuration(text)).toBeNull(),
	);

	it("is written in the greatest unit that divides it evenly", () => {
		expect([5400, 3600, 86400, 45].map(formatDuration)).toEqual(["90m", "1h", "1d", "45s"]);
	});

	it("is relative to now, or absolute", () => {
		expect(resolveRange({ last: 60 }, 1000)).toEqual({ start: 940, end: 1000 });
		expect(resolveRange({ from: 5, to: 6 }, 1000)).toEqual({ start: 5, end: 6 });
	});

	it("round-trips through its text, in milliseconds", () => {
		expect(formatRange({ from: 1.0004, to: 2.5 })).toBe("1..2.5");
		expect(parseRange("1..2.5")).toEqual({ from: 1, to: 2.5 });
		expect(parseRange("2..1")).toBeNull();
	});
});
