/** profile - the flame graph and the table of one window, and what both are searched and zoomed by. */
import { useMemo } from "preact/hooks";

import type { FlameAnswer } from "../api/answers";
import { useAnswer } from "../api/use_answer";
import { kindsOf, paletteOf } from "../flame/colors";
import { filterTree } from "../flame/filter";
import { hashOfNode, nodeOfHash } from "../flame/path";
import { type Found, search, testFrom } from "../flame/search";
import { ALL, type Tree, treeFrom } from "../flame/tree";
import { formatCount, formatValue } from "../format/units";
import type { Change } from "../state/history";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { Breadcrumbs } from "./breadcrumbs";
import { ColorLegend } from "./color_legend";
import { FlameGraph } from "./flame_graph";
import { FunctionTable } from "./function_table";
import { NoData } from "./no_data";
import { Failure, Loading, Warnings } from "./notice";
import { Tools } from "./tools";

interface ProfileProps {
	view: View;
	window: Window;
	labels: string[];
	dark: boolean;
	change: Change;
	again: () => void;
}

export function Profile(props: ProfileProps) {
	const { view, window } = props;
	const asked = useAnswer<FlameAnswer>("query", {
		query: view.query,
		report: "flamegraph",
		start: window.start,
		end: window.end,
		...(view.group ? { group_by: view.group } : {}),
	});
	const { answer } = asked; // while the next is awaited, of the question before
	const tree = useMemo(() => (answer ? treeFrom(answer.data, answer.params.group_by ? 1 : 0) : null), [answer]);
	return (
		<section class="card profile" aria-label="Profile" aria-busy={asked.loading}>
			<Loading on={asked.loading} />
			{asked.error && <Failure error={asked.error} again={props.again} />}
			<Warnings texts={asked.answer?.warnings ?? []} />
			{tree && !asked.error && tree.count > 1 && <Shown {...props} tree={tree} />}
			{tree && !asked.error && tree.count === 1 && !asked.loading && (
				<NoData view={view} window={window} change={props.change} />
			)}
		</section>
	);
}

/** What the search means; a sentence in place of it where it is no expression. */
function useSearch(tree: Tree, text: string): { found: Found | null; fault: string } {
	return useMemo(() => {
		try {
			const test = testFrom(text);
			return { found: test && search(tree, test), fault: "" };
		} catch (error) {
			return { found: null, fault: (error as Error).message };
		}
	}, [tree, text]);
}

function Shown(props: ProfileProps & { tree: Tree }) {
	const { view, change } = props;
	const palette = useMemo(() => paletteOf(props.dark), [props.dark]);
	const { found, fault } = useSearch(props.tree, view.search);
	const narrowed = view.only && found !== null && found.count > 0;
	const tree = useMemo(
		() => (narrowed ? filterTree(props.tree, (found as Found).nodes) : props.tree),
		[props.tree, narrowed, narrowed ? found : null],
	);
	const marked = useSearch(tree, view.search).found;
	const kinds = useMemo(() => kindsOf(tree, view.color), [tree, view.color]);
	const focus = useMemo(() => nodeOfHash(tree, view.zoom), [tree, view.zoom]);
	const zoom = (node: number) => change({ zoom: hashOfNode(tree, node) });

	return (
		<>
			<Tools {...props} whole={props.tree} found={found} fault={fault} />
			<div class="under">
				{focus !== ALL && <Breadcrumbs tree={tree} focus={focus} zoom={zoom} />}
				{focus === ALL && <ColorLegend tree={tree} kinds={kinds} palette={palette} color={view.color} />}
				<p class="amount">
					<strong>{formatValue(tree.total[ALL], tree.unit)}</strong> in {formatCount(tree.count - 1)} frames
				</p>
			</div>
			<div class={`panes ${view.panes}`}>
				{view.panes !== "flame" && (
					<FunctionTable
						tree={tree}
						kinds={kinds}
						palette={palette}
						focus={focus}
						sort={view.sort}
						up={view.up}
						rows={view.rows}
						search={view.search}
						arrange={(sort, up) => change({ sort, up })}
						filter={(rows) => change({ rows }, "replace")}
						find={(text) => change({ search: text })}
					/>
				)}
				{view.panes !== "table" && (
					<FlameGraph
						tree={tree}
						kinds={kinds}
						palette={palette}
						focus={focus}
						found={marked?.nodes ?? null}
						zoom={zoom}
					/>
				)}
			</div>
		</>
	);
}
