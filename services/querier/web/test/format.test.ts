// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { hex, HUES, kindsOf, KINDS, packageOf, paletteOf, sourceOf, UNKNOWN } from "../src/flame/colors";
import { nodeNamed, treeOf } from "./tree_of";
import { fitText, rulerFrom } from "../src/flame/text";
import { formatAge, formatMoment, formatSpan, fromLocalInput, tickTimes, toLocalInput } from "../src/format/time";
import { formatShare, formatValue } from "../src/format/units";
import { formatPoint, lineName, linesFrom, stepOf } from "../src/graph/series";

describe("a value", () => {
	it.each([
		[0, "nanoseconds", "0"],
		[52_631_578, "nanoseconds", "52.6 ms"],
		[1_500_000_000, "nanoseconds", "1.5 s"],
		[999_999_999, "nanoseconds", "1 s"],
		[90e9, "nanoseconds", "1.5 min"],
		[3600e9 * 30, "nanoseconds", "1.25 d"],
		[1536, "bytes", "1.5 KiB"],
		[5000, "bytes", "4.88 KiB"],
		[12_345, "count", "12.3k"],
		[7, "count", "7"],
		[-2048, "bytes", "-2 KiB"],
	])("%d %s is %s", (value, unit, text) => expect(formatValue(value, unit)).toBe(text));

	it("has a share of 0% only if it is 0", () => {
		expect([0, 1, 5, 120, 999, 1000].map((part) => formatShare(part, 1000))).toEqual(["0%", "0.10%", "0.50%", "12.0%", "99.9%", "100%"]);
		expect(formatShare(1, 1e9)).toBe("< 0.01%");
		expect(formatShare(0, 0)).toBe("0%");
	});
});

describe("a name in a box", () => {
	const ruler = rulerFrom((text) => text.length * 10);

	it("is complete if it fits, truncated with dots if not, and empty if too little fits", () => {
		expect(fitText(ruler, "main", 40)).toBe("main");
		expect(fitText(ruler, "mainline", 60)).toBe("mainl…");
		expect(fitText(ruler, "mainline", 30)).toBe("");
	});
});

describe("colours", () => {
	const luminance = (color: string) => {
		const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a: string, b: string) => {
		const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
		return (light + 0.05) / (dark + 0.05);
	};

	it.each([false, true])("have enough contrast with text (dark: %s)", (dark) => {
		const palette = paletteOf(dark);
		expect(palette.fill).toHaveLength(KINDS);
		for (const fill of palette.fill) expect(contrast(fill, palette.text)).toBeGreaterThan(4.5);
		for (const fill of palette.dim) expect(contrast(fill, palette.dimText)).toBeGreaterThan(4.5);
	});

	it("are all different", () => {
		expect(new Set(paletteOf(false).fill.slice(0, HUES)).size).toBe(HUES);
	});

	it("have a source with a name, also without a binary", () => {
		const tree = treeOf({ "[no stack]@": 1, "a@/bin/x": 2, "b@[kernel]": 3 });
		const names = ["[no stack]", "a", "b"].map((name) => sourceOf(tree, nodeNamed(tree, name), "binary"));
		expect(names).toEqual(["no binary", "x", "kernel"]);
		expect(kindsOf(tree, "binary")[nodeNamed(tree, "[no stack]")]).toBe(UNKNOWN);
	});

	it("are converted from OKLCH", () => {
		expect(hex(1, 0, 0)).toBe("#ffffff");
		expect(hex(0.627955, 0.257683, 29.2339)).toBe("#ff0000");
	});

	it.each([
		["net/http.(*conn).serve", "net/http"],
		["github.com/a/b-c/d.Run", "github.com/a/b-c/d"],
		["main.(*Cart).Total", "main"],
		["std::vector<int, std::allocator<int>>::push_back", "std"],
		["decima::storage::Index::lookup", "decima::storage"],
		["org.apache.kafka.Log.append", "org.apache.kafka"],
		["memcpy", "prog"],
	])("%s belongs to %s", (name, source) => expect(packageOf(name, "/bin/prog")).toBe(source));
});

describe("time", () => {
	it("round-trips through an input", () => {
		expect(fromLocalInput(toLocalInput(1787479200))).toBe(1787479200);
		expect(fromLocalInput("")).toBeNull();
	});

	it("has its date if it is not today", () => {
		expect(formatMoment(1787479200, 1787479300)).toMatch(/^\d\d:\d\d:\d\d$/);
		expect(formatMoment(1787479200, 1787479200 - 5 * 86400)).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\d$/);
		expect(formatMoment(1787479200, 1827479300)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
		const noon = new Date(2026, 7, 21, 12).getTime() / 1000;
		expect(formatSpan(noon, noon + 60, noon + 3 * 86400)).toBe("08-21 12:00:00 – 12:01:00");
		expect(formatSpan(noon, noon + 86400, noon)).toBe("12:00:00 – 08-22 12:00:00");
	});

	it.each([
		[5, "5 s"],
		[300, "5 min"],
		[7200, "2 h"],
		[4 * 86400, "4 d"],
		[-3, "0 s"],
	])("%i seconds ago is %s", (seconds, text) => expect(formatAge(seconds)).toBe(text));

	it("shows the date at the first tick of a day", () => {
		const midnight = new Date(2026, 7, 21).getTime() / 1000;
		expect(tickTimes([midnight - 60, midnight, midnight + 60], 60)).toEqual(["23:59", "00:00\n08-21", "00:01"]);
	});
});

describe("lines over time", () => {
	const window = { start: 100, end: 125 };

	it("are rates, and 0 without samples", () => {
		const matrix = { resultType: "matrix", result: [{ metric: { comm: "a" }, values: [[100, "10000000000"], [120, "5000000000"]] as [number, string][] }] };
		const { times, lines } = linesFrom(matrix, window, 10, "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
		expect(times).toEqual([100, 110, 120]);
		expect(lines[0].values).toEqual([1e9, 0, 1e9]); // the window cuts off the last step at 5 s
		expect(formatPoint(1e9, "nanoseconds", true)).toBe("1");
	});

	it("have gaps for a gauge", () => {
		const matrix = { resultType: "matrix", result: [{ metric: {}, values: [[110, "7"]] as [number, string][] }] };
		expect(linesFrom(matrix, window, 10, "memory:inuse_space:bytes:space:bytes").lines[0].values).toEqual([null, 7, null]);
	});

	it("have at most 240 steps of a round length", () => {
		expect(stepOf({ start: 0, end: 3600 })).toBe(15);
		expect(stepOf({ start: 0, end: 60 })).toBe(1);
		expect(stepOf({ start: 0, end: 86400 * 365 })).toBe(172800);
	});

	it("are named by the values of their labels", () => {
		expect(lineName({ comm: "a", node: "" })).toBe("a, no node");
		expect(lineName({ __name__: "t" })).toBe("all");
	});
});
