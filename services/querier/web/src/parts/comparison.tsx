// SPDX-License-Identifier: Apache-2.0
/** comparison - the profiles of two time windows, and the differences between them. */
import { useMemo } from "preact/hooks";

import { COLUMNS, type DiffResponse } from "../api/responses";
import { useResponse } from "../api/use_response";
import { diffTreeFrom } from "../flame/diff";
import { ALL } from "../flame/tree";
import { formatSpan } from "../format/time";
import { isRate } from "../graph/series";
import { splitQuery } from "../selector/text";
import { isSelectorError } from "../state/selector_error";
import type { Change } from "../state/history";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { Empty, Failure, Loading, InvalidSelector, Warnings } from "./notice";
import { Panes } from "./panes";

interface ComparisonProps {
	view: View;
	before: Window;
	after: Window;
	invalid: boolean; // the API rejected a selector: the error is shown at the selector
	halves: [Window, Window] | null; // of the time range with samples, if one side has none
	labels: string[];
	dark: boolean;
	change: Change;
	reload: () => void;
}

/** Duration of "after" / duration of "before"; 1 for values that do not add up over time. */
export function durationRatioOf(query: string, before: Window, after: Window): number {
	if (!isRate(splitQuery(query).type)) return 1;
	const durationRatio = (after.end - after.start) / (before.end - before.start);
	return Math.abs(durationRatio - 1) < 1e-6 ? 1 : durationRatio;
}

export function Comparison(props: ComparisonProps) {
	const { view, before, after } = props;
	const request = useResponse<DiffResponse>("diff", {
		a_query: view.before || view.query,
		a_start: before.start,
		a_end: before.end,
		b_query: view.query,
		b_start: after.start,
		b_end: after.end,
		columns: COLUMNS,
		...(view.group ? { group_by: view.group } : {}),
	});
	const { response } = request;
	const durationRatio = durationRatioOf(view.query, before, after);
	const tree = useMemo(
		() => (response ? diffTreeFrom(response.data, { mode: view.mode, durationRatio, levels: response.params.group_by ? 1 : 0 }) : null),
		[response, view.mode, durationRatio],
	);
	const empty = tree?.count === 1;
	const shown = tree && !empty && !request.error && !props.invalid;
	const emptySide = tree && !request.loading ? [tree.sides.aTotal[ALL], tree.sides.bTotal[ALL]].indexOf(0) : -1;
	return (
		<section class="card profile" aria-label="Comparison" aria-busy={request.loading}>
			<Loading on={request.loading} />
			{props.invalid && <InvalidSelector />}
			{request.error && !props.invalid && !isSelectorError(request.error) && <Failure error={request.error} reload={props.reload} />}
			<Warnings texts={response?.warnings ?? []} />
			{shown && emptySide >= 0 && <EmptySide {...props} name={emptySide ? "after" : "before"} window={emptySide ? after : before} />}
			{shown && <Panes {...props} tree={tree} />}
			{empty && !request.error && !request.loading && (
				<Empty title="Neither time range has samples">
					<p>Choose other time ranges or selectors above. The Fleet page shows whether hosts send profiles at all.</p>
				</Empty>
			)}
		</section>
	);
}

/** One side has no samples, so every frame of the other side is new or gone. */
function EmptySide(props: ComparisonProps & { name: string; window: Window }) {
	const { halves, name, window } = props;
	return (
		<div class="notice warning empty-side" role="status">
			<p>
				No samples {name}, in {formatSpan(window.start, window.end)}: every frame is {name === "before" ? "new" : "gone"}.
			</p>
			{halves && (
				<button
					type="button"
					onClick={() => {
						const [first, second] = halves.map(({ start, end }) => ({ from: start, to: end }));
						props.change({ zoom: "", beforeRange: first, range: second });
					}}
				>
					Compare the halves of the time range that has samples
				</button>
			)}
		</div>
	);
}
