// SPDX-License-Identifier: Apache-2.0
/** compare_page - two queries side by side: before and after. */
import { useMemo, useState } from "preact/hooks";

import { useResponse } from "../api/use_response";
import { type Lines, spanOf, stepOf, topOf } from "../graph/series";
import { splitQuery } from "../selector/text";
import type { Change } from "../state/history";
import { halvesOf, type Range, resolveRange, type Window, windowBefore } from "../state/range";
import { diffShareRequest } from "../state/share";
import { followsNow, type View } from "../state/view";
import { CompareSide } from "./compare_side";
import { Comparison } from "./comparison";
import { LabelChoice } from "./label_choice";
import { RefreshChoice } from "./refresh";
import { ShareButton } from "./share_button";
import { CPU, TypePicker } from "./type_picker";

interface CompareProps {
	view: View;
	now: number;
	dark: boolean;
	change: Change;
	reload: () => void;
}

export function ComparePage(props: CompareProps) {
	const { view, now, change, reload } = props;
	const after = useMemo(() => resolveRange(view.range, now), [view.range, now]);
	const before = useMemo(
		() => (view.beforeRange ? resolveRange(view.beforeRange, now) : windowBefore(after)),
		[view.beforeRange, after, now],
	);
	const { type } = splitQuery(view.query);
	const times = { start: Math.min(before.start, after.start), end: Math.max(before.end, after.end) };
	const types = useResponse<string[]>("profile_types", times);
	const labels = useResponse<string[]>("labels", { ...times, "match[]": `${type || CPU}{}` }).response?.data ?? [];
	const beforeQuery = view.before || view.query;

	const [lines, setLines] = useState<{ before?: Lines; after?: Lines }>({});
	const [invalid, setInvalid] = useState({ before: false, after: false });
	const tops = [lines.before, lines.after].map((each) => (each ? topOf(each) : 0));
	const shared = { by: view.by, dark: props.dark, now, top: Math.max(...tops), reload };

	return (
		<main>
			<div class="toolbar compact">
				<TypePicker
					query={view.query}
					types={types.response?.data ?? []}
					choose={(query) => {
						const other = view.before && splitQuery(query).type + splitQuery(view.before).matchers;
						change({ zoom: "", query, before: other });
					}}
				/>
				<LabelChoice name="graphs by" none="none (one sum)" value={view.by} labels={labels} choose={(by) => change({ by })} />
				<span class="push" />
				<button
					type="button"
					onClick={() => change({ zoom: "", query: beforeQuery, before: view.query, range: asRange(before), beforeRange: asRange(after) })}
				>
					Swap
				</button>
				<ShareButton view={view} request={diffShareRequest(view, before, after)} />
				<RefreshChoice
					every={view.refresh}
					fixed={!followsNow(view)}
					choose={(refresh) => change({ refresh })}
					reload={reload}
				/>
			</div>
			<div class="sides">
				<CompareSide
					{...shared}
					name="Before"
					query={beforeQuery}
					range={view.beforeRange ?? asRange(before)}
					window={before}
					choose={({ query, range }) => change({ ...(query !== undefined && { before: query }), ...(range && { beforeRange: range }) })}
					onLines={(each) => setLines((state) => ({ ...state, before: each }))}
					onInvalid={(sideInvalid) => setInvalid((state) => ({ ...state, before: sideInvalid }))}
				/>
				<CompareSide
					{...shared}
					name="After"
					query={view.query}
					range={view.range}
					window={after}
					choose={({ query, range }) =>
						// "Before" may have followed this selector: now it keeps the old one.
						change({ before: beforeQuery, ...(query !== undefined && { query }), ...(range && { range }) })
					}
					onLines={(each) => setLines((state) => ({ ...state, after: each }))}
					onInvalid={(sideInvalid) => setInvalid((state) => ({ ...state, after: sideInvalid }))}
				/>
			</div>
			<Comparison
				view={view}
				before={before}
				after={after}
				invalid={invalid.before || invalid.after}
				halves={halves(lines, before, after)}
				labels={labels}
				dark={props.dark}
				change={change}
				reload={reload}
			/>
		</main>
	);
}

function asRange(window: Window): Range {
	return { from: window.start, to: window.end };
}

/** If only one side has samples: the two halves of the time range that has them; otherwise null. */
function halves(lines: { before?: Lines; after?: Lines }, before: Window, after: Window): [Window, Window] | null {
	if (!lines.before || !lines.after) return null;
	const spans = [spanOf(lines.before, before, stepOf(before)), spanOf(lines.after, after, stepOf(after))];
	const [only, other] = spans[0] ? spans : [spans[1], spans[0]];
	return only && !other ? halvesOf(only) : null;
}
