// SPDX-License-Identifier: Apache-2.0
/** function_table - the sorted table of functions. Only the visible rows are in the DOM. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Palette } from "../flame/colors";
import { type DiffTree, isDiff, scaled, shares, stepOf } from "../flame/diff";
import { searchFor } from "../flame/search";
import { arrange, type Row, rowsFrom } from "../flame/table";
import { nameOf, type Tree } from "../flame/tree";
import { formatChange, formatCount, formatPoints, formatShare, formatValue } from "../format/units";
import type { Sort } from "../state/view";

const HEIGHT = 28; // of a row in pixels, as in style.css
const BEYOND = 8; // rows above and below the visible ones

export interface FunctionTableProps {
	tree: Tree;
	kinds: Uint8Array;
	palette: Palette;
	focus: number;
	sort: Sort;
	up: boolean;
	rows: string;
	search: string;
	arrange: (sort: Sort, up: boolean) => void;
	filter: (text: string) => void;
	find: (text: string) => void;
}

export function FunctionTable(props: FunctionTableProps) {
	const { tree, focus } = props;
	const all = useMemo(() => rowsFrom(tree, focus), [tree, focus]);
	const rows = useMemo(
		() => arrange(tree, all, props.rows, props.sort, props.up),
		[tree, all, props.rows, props.sort, props.up],
	);
	const scroller = useRef<HTMLDivElement>(null);
	const [viewport, setViewport] = useState({ top: 0, height: 600 });
	const readViewport = () => {
		const { current } = scroller;
		if (current) setViewport({ top: current.scrollTop, height: current.clientHeight });
	};
	useEffect(readViewport, []);
	useEffect(() => {
		scroller.current?.scrollTo({ top: 0 });
	}, [focus, props.rows, props.sort, props.up]);

	const first = Math.max(0, Math.floor(viewport.top / HEIGHT) - BEYOND);
	const last = Math.min(rows.length, Math.ceil((viewport.top + viewport.height) / HEIGHT) + BEYOND);
	return (
		<div class={isDiff(tree) ? "functions compared" : "functions"}>
			<div class="above">
				<input
					type="search"
					placeholder="Filter functions"
					aria-label="Filter functions"
					value={props.rows}
					onInput={(event) => props.filter(event.currentTarget.value)}
				/>
				<span class="hint">
					{rows.length === all.length ? formatCount(all.length) : `${formatCount(rows.length)} of ${formatCount(all.length)}`} functions
				</span>
			</div>
			<div class="scroller" ref={scroller} onScroll={readViewport} tabIndex={0} role="region" aria-label="Functions">
				<table aria-rowcount={rows.length + 1}>
					<thead>
						<tr>
							<Head {...props} name="Self" of="self" />
							<Head {...props} name="Total" of="total" />
							<Head {...props} name="Function" of="name" />
						</tr>
					</thead>
					<tbody>
						<Gap rows={first} />
						{rows.slice(first, last).map((row, i) => (
							<TableRow key={row.node} row={row} number={first + i + 2} {...props} />
						))}
						<Gap rows={rows.length - last} />
					</tbody>
				</table>
			</div>
		</div>
	);
}

type HeadProps = { name: string; of: Sort } & Pick<FunctionTableProps, "sort" | "up" | "arrange">;

function Head(props: HeadProps) {
	const sorted = props.sort === props.of;
	const down = (props.of !== "name") !== props.up; // the greatest first
	return (
		<th scope="col" class={props.of} aria-sort={sorted ? (down ? "descending" : "ascending") : undefined}>
			<button type="button" onClick={() => props.arrange(props.of, sorted ? !props.up : false)}>
				{props.name}
				<span aria-hidden="true">{sorted ? (down ? " ▾" : " ▴") : ""}</span>
			</button>
		</th>
	);
}

function Gap(props: { rows: number }) {
	if (props.rows <= 0) return null;
	return (
		<tr aria-hidden="true" style={{ height: `${props.rows * HEIGHT}px` }}>
			<td colSpan={3} />
		</tr>
	);
}

/** The increase, in the current mode of comparison. */
function change(tree: DiffTree, a: number, b: number): string {
	return tree.sides.relative ? formatPoints(...shares(tree, a, b)) : formatChange(b * tree.sides.bScale - a * tree.sides.aScale, tree.unit);
}

/** The values before and after. */
function fromTo(tree: DiffTree, a: number, b: number): string {
	const [before, after] = scaled(tree, a, b);
	if (!tree.sides.relative) return `${formatValue(before, tree.unit)} → ${formatValue(after, tree.unit)}`;
	const [from, to] = shares(tree, a, b);
	return `${formatShare(from, 1)} → ${formatShare(to, 1)}`;
}

/** The value cells of a row in a comparison. */
function Changes(props: { tree: DiffTree; row: Row }) {
	const { tree, row } = props;
	return (
		<>
			<td class="number" title={fromTo(tree, row.aSelf, row.bSelf)}>
				{change(tree, row.aSelf, row.bSelf)}
			</td>
			<td class="number">
				{change(tree, row.aTotal, row.bTotal)}
				<span class="share">{fromTo(tree, row.aTotal, row.bTotal)}</span>
			</td>
		</>
	);
}

function TableRow(props: FunctionTableProps & { row: Row; number: number }) {
	const { tree, row } = props;
	const name = nameOf(tree, row.node);
	const search = searchFor(name);
	const found = props.search === search;
	const kind = isDiff(tree) ? stepOf(tree, row.aTotal, row.bTotal) : props.kinds[row.node];
	const cell = (value: number) => (
		<td class="number">
			{formatValue(value, tree.unit)}
			<span class="share">{formatShare(value, tree.total[props.focus])}</span>
		</td>
	);
	return (
		<tr aria-rowindex={props.number} class={found ? "found" : undefined}>
			{isDiff(tree) ? (
				<Changes tree={tree} row={row} />
			) : (
				<>
					{cell(row.self)}
					{cell(row.total)}
				</>
			)}
			<td class="name">
				<span class="swatch" style={{ background: props.palette.fill[kind] }} />
				<button
					type="button"
					class="link"
					aria-pressed={found}
					title={`${name}\nFind in the flame graph`}
					onClick={() => props.find(found ? "" : search)}
				>
					{name}
				</button>
			</td>
		</tr>
	);
}
