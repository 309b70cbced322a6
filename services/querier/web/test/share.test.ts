// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import type { Share } from "../src/api/responses";
import { groupCount, liveView, shareRequest, diffShareRequest } from "../src/state/share";
import { START, type View } from "../src/state/view";

const SHARE: Share = {
	id: "0".repeat(32),
	url: `/s/${"0".repeat(32)}`,
	query: '{comm="nginx"}',
	group_by: "comm,pid",
	start: 1787479200.5,
	end: 1787482800,
	created: 1787483000,
	frozen: true,
};

describe("a share", () => {
	it("has the window, not the range", () => {
		const view = { ...START, query: "{}", group: "comm", range: { last: 900 } };

		expect(shareRequest(view, { start: 5.25, end: 9 })).toEqual({ query: "{}", start: 5.25, end: 9, group_by: "comm" });
	});

	it("of a comparison has both sides, and leads back to the comparison", () => {
		const view: View = { ...START, page: "compare", query: "{b=\"1\"}", before: "{a=\"1\"}", group: "" };
		const request = diffShareRequest(view, { start: 1, end: 2 }, { start: 3, end: 4 });
		const { query: _, start: __, end: ___, ...rest } = SHARE;

		expect(request).toEqual({ a: { query: "{a=\"1\"}", start: 1, end: 2 }, b: { query: "{b=\"1\"}", start: 3, end: 4 }, group_by: "" });
		expect({ ...view, share: SHARE.id, ...liveView({ ...rest, ...request }) }).toEqual({
			...view,
			share: "",
			range: { from: 3, to: 4 },
			beforeRange: { from: 1, to: 2 },
		});
		expect(diffShareRequest({ ...view, before: "" }, { start: 1, end: 2 }, { start: 3, end: 4 })).toMatchObject({ a: { query: "{b=\"1\"}" } });
	});

	it("leads back to its live query", () => {
		const live = { ...START, share: SHARE.id, search: "json", ...liveView(SHARE) };

		expect(live).toEqual({
			...START,
			search: "json",
			query: SHARE.query,
			group: "comm",
			range: { from: 1787479200.5, to: 1787482800 },
		});
	});

	it.each([
		["", 0],
		["comm", 1],
		["comm,pid", 2],
	])("grouped by %j has %i levels of labels", (group_by, levels) =>
		expect(groupCount({ ...SHARE, group_by })).toBe(levels),
	);
});
