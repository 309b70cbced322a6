// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { isAligned, linesFrom, spanOf } from "../src/graph/series";
import { halvesOf } from "../src/state/range";

const WINDOW = { start: 100, end: 145 };

function linesOf(...values: [number, string][][]) {
	return linesFrom({ resultType: "matrix", result: values.map((each, i) => ({ metric: { comm: String(i) }, values: each })) }, WINDOW, 10, "");
}

describe("the time with samples", () => {
	it("goes from the first step with samples to the end of the last", () => {
		expect(spanOf(linesOf([[110, "5"]], [[130, "7"]]), WINDOW, 10)).toEqual({ start: 110, end: 140 });
		expect(spanOf(linesOf([[140, "5"]]), WINDOW, 10)).toEqual({ start: 140, end: 145 }); // the last step is cut off
	});

	it("is null without samples", () => {
		expect(spanOf(linesOf(), WINDOW, 10)).toBeNull();
		expect(spanOf(linesOf([[110, "0"]]), WINDOW, 10)).toBeNull();
	});

	it("has two adjacent halves", () => {
		expect(halvesOf({ start: 110, end: 140 })).toEqual([
			{ start: 110, end: 125 },
			{ start: 125, end: 140 },
		]);
	});
});

describe("steps of full hours", () => {
	it("start at a full hour, and the first one counts only its part of the window", () => {
		const window = { start: 3600 * 10 + 1800, end: 3600 * 13 };
		const lines = linesFrom(
			{ resultType: "matrix", result: [{ metric: {}, values: [[36000, "1800"], [39600, "7200"]] }] },
			window, 3600, "wall:wall:nanoseconds:wall:nanoseconds");

		expect(isAligned(3600)).toBe(true);
		expect(isAligned(1800)).toBe(false);
		expect(lines.times).toEqual([36000, 39600, 43200]);
		expect(lines.lines[0].values).toEqual([1, 2, 0]);
	});
});
