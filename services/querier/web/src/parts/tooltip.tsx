// SPDX-License-Identifier: Apache-2.0
/** tooltip - the details of a frame, next to the pointer or to the frame selected with the keyboard. */
import { useEffect, useRef } from "preact/hooks";

import { type DiffTree, isDiff, scaled, shares } from "../flame/diff";
import type { Spot } from "../flame/stage";
import { buildsOf, type Tree } from "../flame/tree";
import { adviceOn } from "../flame/unsymbolized";
import { formatChange, formatPoints, formatShare, formatValue } from "../format/units";
import { type Signal, useSignal } from "../state/signal";

const GAP = 14;

interface TooltipProps {
	tree: Tree;
	focus: number;
	spot: Signal<Spot | null>;
}

/** Rendered again only for another frame; moving the pointer only changes its position. */
export function Tooltip(props: TooltipProps) {
	const { tree, spot } = props;
	const node = useSignal(spot, (now) => now?.node ?? -1);
	const box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		let size = box.current?.getBoundingClientRect();
		const place = () => {
			if (!box.current || !spot.value || !size) return;
			const { x, y } = spot.value;
			const right = x + GAP + size.width <= innerWidth - 8;
			const below = y + GAP + size.height <= innerHeight - 8;
			const left = Math.max(8, right ? x + GAP : x - GAP - size.width);
			const top = Math.max(8, below ? y + GAP : y - GAP - size.height);
			box.current.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
		};
		place();
		return spot.follow(place);
	}, [node, tree, props.focus]);

	return (
		<div class="tooltip" ref={box} role="tooltip" hidden={node < 0 || node >= tree.count}>
			{node >= 0 && node < tree.count && <FrameDetails tree={tree} focus={props.focus} node={node} />}
		</div>
	);
}

function FrameDetails(props: { tree: Tree; focus: number; node: number }) {
	const { tree, node } = props;
	const text = (column: Int32Array) => tree.names[column[node]] ?? "";
	const advice = adviceOn(tree, node);
	const { paths, buildIds } = buildsOf(tree, node);
	const rows: [string, string][] = [
		["binary", text(tree.binary)],
		[paths.length > 1 ? "paths" : "path", someOf(paths.filter((path) => path !== text(tree.binary)))],
		["file", text(tree.file)],
		[buildIds.length > 1 ? "build ids" : "build id", someOf(buildIds)],
		["address", text(tree.address)],
	];
	return (
		<>
			<p class="title">{text(tree.name)}</p>
			{isDiff(tree) ? <Sides tree={tree} node={node} /> : <Values tree={tree} node={node} focus={props.focus} />}
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
			<p class="keys">Click to zoom · right-click for more</p>
		</>
	);
}

const LISTED = 3;

/** The first of the texts, and how many more there are. */
function someOf(texts: string[]): string {
	const more = texts.length - LISTED;
	return texts.slice(0, LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The values of both sides, and their change. */
function Sides(props: { tree: DiffTree; node: number }) {
	const { tree, node } = props;
	const { aSelf, aTotal, bSelf, bTotal } = tree.sides;
	const row = (name: string, a: number, b: number) => {
		const [from, to] = shares(tree, a, b);
		const [before, after] = scaled(tree, a, b);
		return (
			<>
				<tr>
					<th scope="row">{name}</th>
					<td>{formatValue(before, tree.unit)}</td>
					<td>{formatValue(after, tree.unit)}</td>
					<td>{formatChange(after - before, tree.unit)}</td>
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
					{focus !== 0 && <th scope="col">of zoomed</th>}
				</tr>
			</thead>
			<tbody>
				{row("total", tree.total[node])}
				{!tree.callers && row("self", tree.self[node])}
			</tbody>
		</table>
	);
}
