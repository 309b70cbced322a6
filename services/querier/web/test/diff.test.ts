// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import type { DiffResponse } from "../src/api/responses";
import { diffPaletteOf } from "../src/flame/colors";
import { diffTreeFrom, scaled, STEPS, stepOf, stepsOf } from "../src/flame/diff";
import { filterTree } from "../src/flame/filter";
import { search, testFrom } from "../src/flame/search";
import { arrange, rowsFrom } from "../src/flame/table";
import { ALL } from "../src/flame/tree";
import { formatChange, formatGrowth, formatPoints } from "../src/format/units";
import { nodeNamed } from "./tree_of";

/** main;gone 10 -> 0, main;kept 30 -> 90, main;fresh 0 -> 30, idle 60 -> 80: of 100, and of 200. */
const response: DiffResponse = {
	unit: "nanoseconds",
	a_total: 100,
	b_total: 200,
	names: ["", "idle", "main", "fresh", "gone", "kept"],
	nodes: {
		parent: [-1, -1, 1, 1, 1],
		name: [1, 2, 3, 4, 5],
		binary: [0, 0, 0, 0, 0],
		file: [0, 0, 0, 0, 0],
		build_id: [0, 0, 0, 0, 0],
		address: [0, 0, 0, 0, 0],
		a_self: [60, 0, 0, 10, 30],
		a_total: [60, 40, 0, 10, 30],
		b_self: [80, 0, 30, 0, 90],
		b_total: [80, 120, 30, 0, 90],
	},
};

describe("two compared profiles", () => {
	const shares = diffTreeFrom(response, { mode: "relative", durationRatio: 1 });
	const values = diffTreeFrom(response, { mode: "absolute", durationRatio: 1 });

	it("are as wide as both values together, so that a vanished node is visible", () => {
		expect(values.total[ALL]).toBe(300);
		expect(values.total[nodeNamed(values, "gone")]).toBe(10);
		expect(shares.total[ALL]).toBe(400); // both scaled to the greater total
		expect(shares.total[nodeNamed(shares, "gone")]).toBe(20);
		expect(shares.total[nodeNamed(shares, "kept")]).toBe(60 + 90);
	});

	it("are scaled to the same duration in mode rate", () => {
		const rates = diffTreeFrom(response, { mode: "rate", durationRatio: 2 });
		const idle = nodeNamed(rates, "idle");
		expect(scaled(rates, rates.sides.aTotal[idle], rates.sides.bTotal[idle])).toEqual([120, 80]);
		expect(stepOf(rates, 60, 80)).toBeLessThan(STEPS); // less, for twice the duration
		expect(stepOf(rates, 100, 200)).toBe(STEPS);
		expect(rates.total[ALL]).toBe(400);
		expect(rates.sides.aTotal[ALL]).toBe(100);
	});

	it("keep the original values of each side at any scale", () => {
		const gone = nodeNamed(shares, "gone");
		expect([shares.sides.aTotal[gone], shares.sides.bTotal[gone]]).toEqual([10, 0]);
		expect([shares.sides.aTotal[ALL], shares.sides.bTotal[ALL]]).toEqual([100, 200]);
	});

	it("are green for less, red for more, grey for unchanged", () => {
		const steps = stepsOf(shares);
		const of = (name: string) => steps[nodeNamed(shares, name)];
		expect(of("gone")).toBe(0);
		expect(of("fresh")).toBe(2 * STEPS);
		expect(of("idle")).toBeLessThan(STEPS); // 60% to 40%
		expect(of("kept")).toBeGreaterThan(STEPS);
		expect(of("all")).toBe(STEPS);
		expect(stepOf(values, 60, 80)).toBeGreaterThan(STEPS); // in unscaled values it is more
		expect(stepOf(values, 0, 0)).toBe(STEPS);
		expect(diffPaletteOf(true).fill).toHaveLength(2 * STEPS + 1);
	});

	it("are sorted by their increase", () => {
		const names = (up: boolean) =>
			arrange(shares, rowsFrom(shares, ALL), "", "self", up).map(({ node }) => shares.names[shares.name[node]]);
		expect(names(false)).toEqual(["kept", "fresh", "main", "gone", "idle"]);
		expect(names(true)[0]).toBe("idle");
	});

	it("keep both sides when they are filtered to the matched stacks", () => {
		const only = filterTree(values, search(values, testFrom("kept") as (name: string) => boolean).nodes);
		expect([only.sides?.aTotal[ALL], only.sides?.bTotal[ALL]]).toEqual([30, 90]);
		expect(only.total[nodeNamed(only, "main")]).toBe(120);
	});

	it("may have an empty side", () => {
		const emptyA = { ...response, a_total: 0, nodes: { ...response.nodes, a_self: [0, 0, 0, 0, 0], a_total: [0, 0, 0, 0, 0] } };
		const tree = diffTreeFrom(emptyA, { mode: "relative", durationRatio: 1 });
		expect(tree.total[ALL]).toBe(200);
		expect(stepsOf(tree)[nodeNamed(tree, "kept")]).toBe(2 * STEPS);
	});
});

it("formats changes with their sign", () => {
	expect([formatChange(1.5e9, "nanoseconds"), formatChange(-2048, "bytes"), formatChange(0, "count")]).toEqual(["+1.5 s", "−2 KiB", "0"]);
	expect([formatGrowth(9.21, 15.3), formatGrowth(2, 1), formatGrowth(5, 0), formatGrowth(0, 5), formatGrowth(3, 3), formatGrowth(1, 60)]).toEqual([
		"+66%",
		"−50%",
		"−100%",
		"new",
		"no change",
		"×60.0",
	]);
	expect([formatPoints(0.1, 0.155), formatPoints(0.5, 0.2), formatPoints(0.1, 0.1)]).toEqual(["+5.50 pp", "−30.0 pp", "0"]);
});
