import { describe, expect, it } from "vitest";

import type { Share } from "../src/api/answers";
import { groupCount, liveView, shareOf } from "../src/state/share";
import { START } from "../src/state/view";

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
	it("is asked for as what is shown: the window, not the range", () => {
		const view = { ...START, query: "{}", group: "comm", range: { last: 900 } };

		expect(shareOf(view, { start: 5.25, end: 9 })).toEqual({ query: "{}", start: 5.25, end: 9, group_by: "comm" });
	});

	it("leads back to its question, and is no share then", () => {
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
