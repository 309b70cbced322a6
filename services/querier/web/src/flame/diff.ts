// SPDX-License-Identifier: Apache-2.0
/**
 * diff - two profiles as one tree: a node is as wide as both of its values together.
 *
 * So nothing vanishes from the picture: what only one side has is half as wide as what both have.
 * Per time: what was before is scaled to as long a time as after. Relative: each side's values are
 * shares of its own total, so a busier hour is no change in itself. Absolute: the values as they
 * are. Whatever is shown, both sides' own values are kept.
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
	durationRatio: number; // how many times as long "after" is as "before"; 1 where values do not add up over time
	levels?: number;
}

export function diffTreeFrom(response: DiffResponse, { mode, durationRatio, levels = 0 }: DiffOptions): DiffTree {
	const { nodes, a_total, b_total } = response;
	const relative = mode === "relative";
	// Shares are scaled to the greater of both, so that widths are still in the unit.
	const whole = Math.max(a_total, b_total);
	const [aScale, bScale] = relative ? [scale(whole, a_total), scale(whole, b_total)] : [mode === "rate" ? durationRatio : 1, 1];
	const sum = (a: number[], b: number[]) => a.map((value, i) => value * aScale + b[i] * bScale);
	const tree = treeFrom(
		{
			unit: response.unit,
			total: a_total * aScale + b_total * bScale,
			names: response.names,
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

/** From -1, vanished, over 0, the same, to 1, new. */
export function changeOf(tree: DiffTree, a: number, b: number): number {
	const [before, after] = [a * tree.sides.aScale, b * tree.sides.bScale];
	return before + after === 0 ? 0 : (after - before) / (before + after);
}

export const STEPS = 4; // of colours to each side of the neutral one
const THRESHOLDS = [0.02, 0.1, 0.25, 0.5];

/** Each node's step: 0 greatly better, STEPS the same, 2 * STEPS greatly worse. */
export function stepsOf(tree: DiffTree): Uint8Array {
	const { aTotal, bTotal } = tree.sides;
	return Uint8Array.from(tree.total, (_, i) => stepOf(tree, aTotal[i], bTotal[i]));
}

export function stepOf(tree: DiffTree, a: number, b: number): number {
	const change = changeOf(tree, a, b);
	return STEPS + Math.sign(change) * THRESHOLDS.filter((threshold) => Math.abs(change) >= threshold).length;
}

/** Both as they are compared, in the unit. */
export function scaled({ sides }: DiffTree, a: number, b: number): [number, number] {
	return sides.relative ? [a, b] : [a * sides.aScale, b * sides.bScale];
}

/** Shares of each side's whole, or of what a side would have had: for "12% → 15%". */
export function shares(tree: DiffTree, a: number, b: number): [number, number] {
	const { aTotal, bTotal } = tree.sides;
	return [aTotal[ALL] ? a / aTotal[ALL] : 0, bTotal[ALL] ? b / bTotal[ALL] : 0];
}

function scale(whole: number, total: number): number {
	return total > 0 ? whole / total : 1;
}
