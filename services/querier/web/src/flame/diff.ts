// SPDX-License-Identifier: Apache-2.0
/**
 * diff - two profiles as one tree: the width of a node is the sum of its two values.
 *
 * So every node of either side is visible: a node that only one side has is half as wide as an equal
 * node of both sides. Mode `rate`: the values of "before" are scaled to the duration of "after".
 * Mode `relative`: values are shares of their side's total, so a busier time range alone is no
 * change. Mode `absolute`: values are not scaled. The original values of both sides are kept.
 */
import type { DiffResponse } from "../api/responses";
import type { Mode } from "../state/view";
import { ALL, type Sides, type Tree, treeFrom } from "./tree";

export type DiffTree = Tree & { sides: Sides };

export function isDiff(tree: Tree): tree is DiffTree {
	return tree.sides !== null;
}

export interface DiffOptions {
	mode: Mode;
	durationRatio: number; // duration of "after" / duration of "before"; 1 if values do not add up over time
	levels?: number;
}

export function diffTreeFrom(response: DiffResponse, { mode, durationRatio, levels = 0 }: DiffOptions): DiffTree {
	const { nodes, a_total, b_total } = response;
	const relative = mode === "relative";
	// Shares are scaled to the greater total, so that widths are still in the profile's unit.
	const whole = Math.max(a_total, b_total);
	const [aScale, bScale] = relative ? [scale(whole, a_total), scale(whole, b_total)] : [mode === "rate" ? durationRatio : 1, 1];
	const sum = (a: number[], b: number[]) => a.map((value, i) => value * aScale + b[i] * bScale);
	const tree = treeFrom(
		{
			unit: response.unit,
			total: a_total * aScale + b_total * bScale,
			names: response.names,
			builds: response.builds ?? [[]],
			nodes: { ...nodes, self: sum(nodes.a_self, nodes.b_self), total: sum(nodes.a_total, nodes.b_total) },
		},
		levels,
	);
	return {
		...tree,
		sides: {
			aSelf: Float64Array.from([0, ...nodes.a_self]),
			aTotal: Float64Array.from([a_total, ...nodes.a_total]),
			bSelf: Float64Array.from([0, ...nodes.b_self]),
			bTotal: Float64Array.from([b_total, ...nodes.b_total]),
			relative,
			aScale,
			bScale,
		},
	};
}

/** The change from -1 (gone) over 0 (unchanged) to 1 (new). */
export function changeOf(tree: DiffTree, a: number, b: number): number {
	const [before, after] = [a * tree.sides.aScale, b * tree.sides.bScale];
	return before + after === 0 ? 0 : (after - before) / (before + after);
}

export const STEPS = 4; // colours on each side of the neutral one
const THRESHOLDS = [0.02, 0.1, 0.25, 0.5];

/** The colour step of each node: 0 is much better, STEPS unchanged, 2 * STEPS much worse. */
export function stepsOf(tree: DiffTree): Uint8Array {
	const { aTotal, bTotal } = tree.sides;
	return Uint8Array.from(tree.total, (_, i) => stepOf(tree, aTotal[i], bTotal[i]));
}

export function stepOf(tree: DiffTree, a: number, b: number): number {
	const change = changeOf(tree, a, b);
	return STEPS + Math.sign(change) * THRESHOLDS.filter((threshold) => Math.abs(change) >= threshold).length;
}

/** Both values as they are compared, in the profile's unit. */
export function scaled({ sides }: DiffTree, a: number, b: number): [number, number] {
	return sides.relative ? [a, b] : [a * sides.aScale, b * sides.bScale];
}

/** Both values as shares of their side's total, for "12% → 15%"; 0 if the total is 0. */
export function shares(tree: DiffTree, a: number, b: number): [number, number] {
	const { aTotal, bTotal } = tree.sides;
	return [aTotal[ALL] ? a / aTotal[ALL] : 0, bTotal[ALL] ? b / bTotal[ALL] : 0];
}

function scale(whole: number, total: number): number {
	return total > 0 ? whole / total : 1;
}
