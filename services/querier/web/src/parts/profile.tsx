// SPDX-License-Identifier: Apache-2.0
/** profile - what one window's samples are made of. */
import { useMemo } from "preact/hooks";

import type { FlameAnswer } from "../api/answers";
import { useAnswer } from "../api/use_answer";
import { treeFrom } from "../flame/tree";
import type { Change } from "../state/history";
import { isFault } from "../state/fault";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { NoData } from "./no_data";
import { Failure, Loading, Refused, Warnings } from "./notice";
import { Panes } from "./panes";

interface ProfileProps {
	view: View;
	faulty: boolean; // the question is refused, which is said where it is asked
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
	const empty = tree?.count === 1;
	return (
		<section class="card profile" aria-label="Profile" aria-busy={asked.loading}>
			<Loading on={asked.loading} />
			{props.faulty && <Refused />}
			{asked.error && !props.faulty && !isFault(asked.error) && <Failure error={asked.error} again={props.again} />}
			<Warnings texts={answer?.warnings ?? []} />
			{tree && !empty && !asked.error && <Panes {...props} tree={tree} />}
			{empty && !asked.error && !asked.loading && <NoData view={view} window={window} change={props.change} />}
		</section>
	);
}
