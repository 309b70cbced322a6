/** tooltip - all that is known of a frame, beside the pointer or the frame the keys are at. */
import { useLayoutEffect, useRef } from "preact/hooks";

import { type DiffTree, isDiff, shares } from "../flame/diff";
import { formatChange, formatPoints, formatShare, formatValue } from "../format/units";
import { type Tree } from "../flame/tree";
import { adviceOn } from "../flame/unnamed";

export interface Spot {
	node: number;
	x: number; // of the window
	y: number;
}

const GAP = 14;

export function Tooltip(props: { tree: Tree; focus: number; spot: Spot }) {
	const { tree, spot } = props;
	const box = useRef<HTMLDivElement>(null);

	useLayoutEffect(() => {
		const { current } = box;
		if (!current) return;
		const { width, height } = current.getBoundingClientRect();
		const right = spot.x + GAP + width <= innerWidth - 8;
		const below = spot.y + GAP + height <= innerHeight - 8;
		current.style.left = `${Math.max(8, right ? spot.x + GAP : spot.x - GAP - width)}px`;
		current.style.top = `${Math.max(8, below ? spot.y + GAP : spot.y - GAP - height)}px`;
	}, [spot.node, spot.x, spot.y, tree]);

	const text = (column: Int32Array) => tree.names[column[spot.node]] ?? "";
	const advice = adviceOn(tree, spot.node);
	const rows: [string, string][] = [
		["binary", text(tree.binary)],
		["file", text(tree.file)],
		["build id", text(tree.buildId)],
		["address", text(tree.address)],
	];
	return (
		<div class="tooltip" ref={box} role="tooltip">
			<p class="title">{text(tree.name)}</p>
			{isDiff(tree) ? <Sides tree={tree} node={spot.node} /> : <Values tree={tree} node={spot.node} focus={props.focus} />}
			<dl>
				{rows
					.filter(([, value]) => value !== "")
					.map(([name, value]) => (
						<div key={name}>
							<dt>{name}</dt>
							<dd>{value}</dd>
						</div>
					))}
			</dl>
			{advice && (
				<p class="advice">
					<strong>{advice.why}</strong> {advice.todo}
				</p>
			)}
		</div>
	);
}

/** Both sides' own values, and what changed. */
function Sides(props: { tree: DiffTree; node: number }) {
	const { tree, node } = props;
	const { aSelf, aTotal, bSelf, bTotal } = tree.sides;
	const row = (name: string, a: number, b: number) => {
		const [from, to] = shares(tree, a, b);
		return (
			<>
				<tr>
					<th scope="row">{name}</th>
					<td>{formatValue(a, tree.unit)}</td>
					<td>{formatValue(b, tree.unit)}</td>
					<td>{formatChange(b - a, tree.unit)}</td>
				</tr>
				<tr>
					<th scope="row">of all</th>
					<td>{formatShare(from, 1)}</td>
					<td>{formatShare(to, 1)}</td>
					<td>{formatPoints(from, to)}</td>
				</tr>
			</>
		);
	};
	return (
		<table>
			<thead>
				<tr>
					<td />
					<th scope="col">before</th>
					<th scope="col">after</th>
					<th scope="col">change</th>
				</tr>
			</thead>
			<tbody>
				{row("total", aTotal[node], bTotal[node])}
				{row("self", aSelf[node], bSelf[node])}
			</tbody>
		</table>
	);
}

function Values(props: { tree: Tree; node: number; focus: number }) {
	const { tree, node, focus } = props;
	const row = (name: string, value: number) => (
		<tr>
			<th scope="row">{name}</th>
			<td>{formatValue(value, tree.unit)}</td>
			<td>{formatShare(value, tree.total[0])}</td>
			{focus !== 0 && <td>{formatShare(value, tree.total[focus])}</td>}
		</tr>
	);
	return (
		<table>
			<thead>
				<tr>
					<td />
					<td />
					<th scope="col">of all</th>
					{focus !== 0 && <th scope="col">of the zoomed</th>}
				</tr>
			</thead>
			<tbody>
				{row("total", tree.total[node])}
				{row("self", tree.self[node])}
			</tbody>
		</table>
	);
}
