// SPDX-License-Identifier: Apache-2.0
/** comparison - what is made of two windows' samples, and what changed between them. */
import { useMemo } from "preact/hooks";

import type { DiffAnswer } from "../api/answers";
import { useAnswer } from "../api/use_answer";
import { diffTreeFrom } from "../flame/diff";
import { ALL } from "../flame/tree";
import { formatSpan } from "../format/time";
import { isRate } from "../graph/series";
import { splitQuery } from "../selector/text";
import { isFault } from "../state/fault";
import type { Change } from "../state/history";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { Empty, Failure, Loading, Refused, Warnings } from "./notice";
import { Panes } from "./panes";

interface ComparisonProps {
	view: View;
	before: Window;
	after: Window;
	faulty: boolean; // a question is refused, which is said where it is asked
	halves: [Window, Window] | null; // of the time that has samples, where one side has none
	labels: string[];
	dark: boolean;
	change: Change;
	again: () => void;
}

/** How many times as long "after" is, for what adds up over time. */
export function longerBy(query: string, before: Window, after: Window): number {
	if (!isRate(splitQuery(query).type)) return 1;
	const longer = (after.end - after.start) / (before.end - before.start);
	return Math.abs(longer - 1) < 1e-6 ? 1 : longer;
}

export function Comparison(props: ComparisonProps) {
	const { view, before, after } = props;
	const asked = useAnswer<DiffAnswer>("diff", {
		a_query: view.before || view.query,
		a_start: before.start,
		a_end: before.end,
		b_query: view.query,
		b_start: after.start,
		b_end: after.end,
		...(view.group ? { group_by: view.group } : {}),
	});
	const { answer } = asked;
	const longer = longerBy(view.query, before, after);
	const tree = useMemo(
		() => (answer ? diffTreeFrom(answer.data, { mode: view.mode, longer, levels: answer.params.group_by ? 1 : 0 }) : null),
		[answer, view.mode, longer],
	);
	const empty = tree?.count === 1;
	const shown = tree && !empty && !asked.error && !props.faulty;
	const bare = tree && !asked.loading ? [tree.sides.aTotal[ALL], tree.sides.bTotal[ALL]].indexOf(0) : -1;
	return (
		<section class="card profile" aria-label="Comparison" aria-busy={asked.loading}>
			<Loading on={asked.loading} />
			{props.faulty && <Refused />}
			{asked.error && !props.faulty && !isFault(asked.error) && <Failure error={asked.error} again={props.again} />}
			<Warnings texts={answer?.warnings ?? []} />
			{shown && bare >= 0 && <Bare {...props} name={bare ? "after" : "before"} window={bare ? after : before} />}
			{shown && <Panes {...props} tree={tree} />}
			{empty && !asked.error && !asked.loading && (
				<Empty title="Neither time has samples">
					<p>Choose other times or other selectors above. The Fleet page shows whether hosts send profiles at all.</p>
				</Empty>
			)}
		</section>
	);
}

/** One side has nothing, so all of the other is new, or gone. */
function Bare(props: ComparisonProps & { name: string; window: Window }) {
	const { halves, name, window } = props;
	return (
		<div class="notice warning bare" role="status">
			<p>
				No samples {name}, in {formatSpan(window.start, window.end)}: so all is {name === "before" ? "new" : "gone"}.
			</p>
			{halves && (
				<button
					type="button"
					onClick={() => {
						const [first, second] = halves.map(({ start, end }) => ({ from: start, to: end }));
						props.change({ zoom: "", beforeRange: first, range: second });
					}}
				>
					Compare the halves of the time that has samples
				</button>
			)}
		</div>
	);
}
