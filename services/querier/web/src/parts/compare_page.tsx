/** compare_page - two questions beside each other: before and after. */
import { useMemo, useState } from "preact/hooks";

import { useAnswer } from "../api/use_answer";
import { addMatcher, splitQuery } from "../selector/text";
import type { Change } from "../state/history";
import { type Range, resolveRange, type Window, windowBefore } from "../state/range";
import type { View } from "../state/view";
import { Comparison } from "./comparison";
import { Graph } from "./graph";
import { RangePicker } from "./range_picker";
import { SelectorInput } from "./selector_input";
import { CPU, TypePicker } from "./type_picker";

interface CompareProps {
	view: View;
	now: number;
	dark: boolean;
	change: Change;
	again: () => void;
}

export function ComparePage(props: CompareProps) {
	const { view, now, change, again } = props;
	const after = useMemo(() => resolveRange(view.range, now), [view.range, now]);
	const before = useMemo(
		() => (view.beforeRange ? resolveRange(view.beforeRange, now) : windowBefore(after)),
		[view.beforeRange, after, now],
	);
	const { type } = splitQuery(view.query);
	const known = { start: Math.min(before.start, after.start), end: Math.max(before.end, after.end) };
	const types = useAnswer<string[]>("profile_types", known);
	const labels = useAnswer<string[]>("labels", { ...known, "match[]": `${type || CPU}{}` }).answer?.data ?? [];

	const [tops, setTops] = useState<Record<string, number>>({}); // of both graphs, for one scale
	const side = (name: string, window: Window, query: string, range: Range, set: (part: { query?: string; range?: Range }) => void) => (
		<section class="side" aria-label={name}>
			<div class="toolbar">
				<h2>{name}</h2>
				<SelectorInput query={query} window={window} choose={(next) => set({ query: next })} />
				<RangePicker range={range} now={now} choose={(next) => set({ range: next })} />
			</div>
			<Graph
				query={query}
				window={window}
				pin={null}
				by={view.by}
				labels={labels}
				dark={props.dark}
				again={again}
				split={(by) => change({ by })}
				zoom={({ start, end }) => set({ range: { from: start, to: end } })}
				top={Math.max(0, ...Object.values(tops))}
				onTop={(top) => setTops((known) => ({ ...known, [name]: top }))}
				narrow={(label, value) => set({ query: addMatcher(query, label, "=", value) })}
			/>
		</section>
	);
	const beforeQuery = view.before || view.query;

	return (
		<main>
			<div class="toolbar">
				<TypePicker
					query={view.query}
					types={types.answer?.data ?? []}
					choose={(query) => {
						const other = view.before && splitQuery(query).type + splitQuery(view.before).matchers;
						change({ zoom: "", query, before: other });
					}}
				/>
				<span class="push" />
				<button
					type="button"
					onClick={() => change({ zoom: "", query: beforeQuery, before: view.query, range: asRange(before), beforeRange: asRange(after) })}
				>
					Swap
				</button>
				<button type="button" class="icon refresh" title="Refresh" onClick={again}>
					<span aria-hidden="true">↻</span>
					<span class="unseen">Refresh</span>
				</button>
			</div>
			<div class="sides">
				{side("Before", before, beforeQuery, view.beforeRange ?? asRange(before), ({ query, range }) =>
					change({ ...(query !== undefined && { before: query }), ...(range && { beforeRange: range }) }),
				)}
				{side("After", after, view.query, view.range, ({ query, range }) =>
					change({
						// What "before" followed stays what it was.
						before: beforeQuery,
						...(query !== undefined && { query }),
						...(range && { range }),
					}),
				)}
			</div>
			<Comparison view={view} before={before} after={after} labels={labels} dark={props.dark} change={change} again={again} />
		</main>
	);
}

function asRange(window: Window): Range {
	return { from: window.start, to: window.end };
}
