// SPDX-License-Identifier: Apache-2.0
/** panes - a tree as flame graph and table, with their common search, colours and zoom. */
import { useEffect, useMemo, useState } from "preact/hooks";

import { callersOf, MIN_SHARE } from "../flame/callers";
import { diffPaletteOf, kindsOf, paletteOf } from "../flame/colors";
import { isDiff, scaled, stepsOf } from "../flame/diff";
import { filterTree } from "../flame/filter";
import { hashOfNode, nodeOfHash } from "../flame/path";
import { type SearchResult, search, testFrom } from "../flame/search";
import { ZOOM_MS } from "../flame/stage";
import { ALL, type Tree } from "../flame/tree";
import { formatCount, formatGrowth, formatShare, formatValue } from "../format/units";
import type { Change } from "../state/history";
import { type ColorBy, EVERY, type View } from "../state/view";
import { Breadcrumbs } from "./breadcrumbs";
import { ColorLegend, DiffLegend } from "./color_legend";
import { FlameGraph } from "./flame_graph";
import { FunctionTable } from "./function_table";
import { Tools } from "./tools";

interface PanesProps {
	tree: Tree;
	view: View;
	labels: string[];
	dark: boolean;
	change: Change;
}

export function Panes(props: PanesProps) {
	const { view, change } = props;
	const compared = isDiff(props.tree);
	const palette = useMemo(() => (compared ? diffPaletteOf : paletteOf)(props.dark), [compared, props.dark]);
	const { found, searchError } = useSearch(props.tree, view.search);
	const narrowed = view.only && found !== null && found.count > 0;
	const tree = useMemo(
		() => (narrowed ? filterTree(props.tree, (found as SearchResult).nodes) : props.tree),
		[props.tree, narrowed, narrowed ? found : null],
	);
	const drawn = useMemo(
		() => (view.callers ? callersOf(tree, view.callers === EVERY ? null : view.callers) : tree),
		[tree, view.callers],
	);
	const marked = useSearch(drawn, view.search).found;
	const kinds = useKinds(tree, view.color);
	const drawnKinds = useKinds(drawn, view.color);
	const focus = useMemo(() => nodeOfHash(drawn, view.zoom), [drawn, view.zoom]);
	const zoom = (node: number) => change({ zoom: hashOfNode(drawn, node) });
	// The table always shows the calls, even if the flame graph shows callers.
	const settled = useSettled(tree, drawn === tree ? focus : ALL);

	// Memoized: an unchanged table is not rendered again, so that a zoom stays cheap.
	const table = useMemo(
		() => (
			<FunctionTable
				tree={tree}
				kinds={kinds}
				palette={palette}
				focus={settled}
				sort={view.sort}
				up={view.up}
				rows={view.rows}
				search={view.search}
				arrange={(sort, up) => change({ sort, up })}
				filter={(rows) => change({ rows }, "replace")}
				find={(text) => change({ search: text })}
			/>
		),
		[tree, kinds, palette, settled, view.sort, view.up, view.rows, view.search, change],
	);

	return (
		<>
			<Tools {...props} compared={compared} whole={props.tree} found={found} searchError={searchError} />
			<div class="under">
				{focus !== ALL && <Breadcrumbs tree={drawn} focus={focus} zoom={zoom} />}
				{focus === ALL && compared && <DiffLegend palette={palette} />}
				{focus === ALL && !compared && <ColorLegend tree={tree} kinds={kinds} palette={palette} color={view.color} />}
				<Amount tree={drawn} />
			</div>
			<div class={view.panes === "both" ? "panes two" : "panes"}>
				{view.panes !== "flame" && table}
				{view.panes !== "table" && (
					<FlameGraph
						tree={drawn}
						kinds={drawnKinds}
						palette={palette}
						focus={focus}
						found={marked?.nodes ?? null}
						zoom={zoom}
						find={(text, only) => change({ search: text, only })}
						showCallers={(name) => change({ callers: name, zoom: "" })}
					/>
				)}
			</div>
		</>
	);
}

function Amount(props: { tree: Tree }) {
	const { tree } = props;
	const frames = `${formatCount(tree.count - 1)} frames${tree.callers ? ` of at least ${formatShare(MIN_SHARE, 1)}` : ""}`;
	if (!isDiff(tree)) {
		return (
			<p class="amount">
				<strong>{formatValue(tree.total[ALL], tree.unit)}</strong> in {frames}
			</p>
		);
	}
	const { relative, aScale } = tree.sides;
	const [before, after] = scaled(tree, tree.sides.aTotal[ALL], tree.sides.bTotal[ALL]);
	const change = after > before ? "worse" : after < before ? "better" : "same";
	return (
		<p class="amount">
			{formatValue(before, tree.unit)} → <strong>{formatValue(after, tree.unit)}</strong>,{" "}
			<strong class={change}>{formatGrowth(before, after)}</strong> in {frames}
			{!relative && aScale !== 1 && ", before scaled to the duration of after"}
		</p>
	);
}

function useKinds(tree: Tree, color: ColorBy): Uint8Array {
	return useMemo(() => (isDiff(tree) ? stepsOf(tree) : kindsOf(tree, color)), [tree, color]);
}

const SETTLE_MS = ZOOM_MS + 70; // long enough for the last frame of the zoom animation

/** The focus after the zoom animation has ended, for expensive work. A new tree has it at once. */
function useSettled(tree: Tree, focus: number): number {
	const [settled, setSettled] = useState({ tree, focus });
	useEffect(() => {
		const later = setTimeout(() => setSettled({ tree, focus }), settled.tree === tree ? SETTLE_MS : 0);
		return () => clearTimeout(later);
	}, [tree, focus]);
	return settled.tree === tree ? settled.focus : focus;
}

/** The frames that the search matches, or an error message if the expression is invalid. */
function useSearch(tree: Tree, text: string): { found: SearchResult | null; searchError: string } {
	return useMemo(() => {
		try {
			const test = testFrom(text);
			return { found: test && search(tree, test), searchError: "" };
		} catch (error) {
			return { found: null, searchError: (error as Error).message };
		}
	}, [tree, text]);
}
