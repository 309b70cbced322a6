// SPDX-License-Identifier: Apache-2.0
/** color_legend - the legend of colours: the binaries or packages with the most self time. */
import { useMemo } from "preact/hooks";

import { LABEL, type Palette, sourceOf } from "../flame/colors";
import { STEPS } from "../flame/diff";
import type { Tree } from "../flame/tree";
import type { ColorBy } from "../state/view";

const SHOWN = 10;

/** The colours of a comparison. */
export function DiffLegend(props: { palette: Palette }) {
	const { fill } = props.palette;
	const steps: [number, string][] = [
		[0, "gone or much less"],
		[1, "less"],
		[STEPS, "unchanged"],
		[2 * STEPS - 1, "more"],
		[2 * STEPS, "new or much more"],
	];
	return (
		<ul class="colors" aria-label="Colours">
			{steps.map(([step, name]) => (
				<li key={name}>
					<span class="swatch" style={{ background: fill[step] }} />
					{name}
				</li>
			))}
		</ul>
	);
}

export function ColorLegend(props: { tree: Tree; kinds: Uint8Array; palette: Palette; color: ColorBy }) {
	const { tree, kinds, color } = props;
	const sources = useMemo(() => {
		const sums = new Map<string, { kind: number; self: number }>();
		for (let i = 0; i < tree.count; i++) {
			if (kinds[i] === LABEL || tree.self[i] === 0) continue;
			const name = sourceOf(tree, i, color);
			const sum = sums.get(name) ?? { kind: kinds[i], self: 0 };
			sum.self += tree.self[i];
			sums.set(name, sum);
		}
		return [...sums].sort(([, a], [, b]) => b.self - a.self).slice(0, SHOWN);
	}, [tree, kinds, color]);
	return (
		<ul class="colors" aria-label="Colours">
			{sources.map(([name, { kind }]) => (
				<li key={name}>
					<span class="swatch" style={{ background: props.palette.fill[kind] }} />
					{name}
				</li>
			))}
		</ul>
	);
}
