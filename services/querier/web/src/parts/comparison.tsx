/** comparison - what is made of two windows' samples, and what changed between them. */
import { useMemo } from "preact/hooks";

import type { DiffAnswer } from "../api/answers";
import { useAnswer } from "../api/use_answer";
import { diffTreeFrom } from "../flame/diff";
import type { Change } from "../state/history";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { Empty, Failure, Loading, Warnings } from "./notice";
import { Panes } from "./panes";

interface ComparisonProps {
	view: View;
	before: Window;
	after: Window;
	labels: string[];
	dark: boolean;
	change: Change;
	again: () => void;
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
	const relative = view.mode === "relative";
	const tree = useMemo(
		() => (answer ? diffTreeFrom(answer.data, relative, answer.params.group_by ? 1 : 0) : null),
		[answer, relative],
	);
	const empty = tree?.count === 1;
	return (
		<section class="card profile" aria-label="Comparison" aria-busy={asked.loading}>
			<Loading on={asked.loading} />
			{asked.error && <Failure error={asked.error} again={props.again} />}
			<Warnings texts={answer?.warnings ?? []} />
			{tree && !empty && !asked.error && <Panes {...props} tree={tree} />}
			{empty && !asked.error && !asked.loading && (
				<Empty title="Neither time has samples">
					<p>Choose other times or other selectors above. The Fleet page shows whether hosts send profiles at all.</p>
				</Empty>
			)}
		</section>
	);
}
