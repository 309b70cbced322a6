// SPDX-License-Identifier: Apache-2.0
/** announcement - a live region that announces the selected frame to screen readers. */
import { isDiff, shares } from "../flame/diff";
import type { Spot } from "../flame/stage";
import { ALL, nameOf, type Tree } from "../flame/tree";
import { formatShare, formatValue } from "../format/units";
import { type Signal, useSignal } from "../state/signal";

export function Announcement(props: { tree: Tree; spot: Signal<Spot | null> }) {
	const { tree } = props;
	const node = useSignal(props.spot, (spot) => spot?.node ?? -1);
	return (
		<p class="visually-hidden" role="status">
			{node >= 0 && node < tree.count && sentenceOf(tree, node)}
		</p>
	);
}

function sentenceOf(tree: Tree, node: number): string {
	if (isDiff(tree)) {
		const { aTotal, bTotal } = tree.sides;
		const [from, to] = shares(tree, aTotal[node], bTotal[node]);
		return `${nameOf(tree, node)}: before ${formatShare(from, 1)} of all, after ${formatShare(to, 1)}`;
	}
	const total = `${formatValue(tree.total[node], tree.unit)}, ${formatShare(tree.total[node], tree.total[ALL])} of all`;
	return `${nameOf(tree, node)}: total ${total}; self ${formatValue(tree.self[node], tree.unit)}`;
}
