// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { linesFrom, spanOf } from "../src/graph/series";
import { halvesOf } from "../src/state/range";

const WINDOW = { start: 100, end: 145 };

function linesOf(...values: [number, string][][]) {
	return linesFrom({ resultType: "matrix", result: values.map((each, i) => ({ metric: { comm: String(i) }, values: each })) }, WINDOW, 10, "");
}

describe("the time that has samples", () => {
	it("goes from the first step with something to the end of the last", () => {
		expect(spanOf(linesOf([[110, "5"]], [[130, "7"]]), WINDOW, 10)).toEqual({ start: 110, end: 140 });
		expect(spanOf(linesOf([[140, "5"]]), WINDOW, 10)).toEqual({ start: 140, end: 145 }); // the last is cut off
	});

	it("is none where nothing is", () => {
		expect(spanOf(linesOf(), WINDOW, 10)).toBeNull();
		expect(spanOf(linesOf([[110, "0"]]), WINDOW, 10)).toBeNull();
	});

	it("has two halves, one at the other", () => {
		expect(halvesOf({ start: 110, end: 140 })).toEqual([
			{ start: 110, end: 125 },
			{ start: 125, end: 140 },
		]);
	});
});
