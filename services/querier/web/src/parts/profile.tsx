// SPDX-License-Identifier: Apache-2.0
/** profile - the profile of one time window. */
import { useMemo } from "preact/hooks";

import { COLUMNS, type FlameResponse } from "../api/responses";
import { useResponse } from "../api/use_response";
import { treeFrom } from "../flame/tree";
import type { Change } from "../state/history";
import { isSelectorError } from "../state/selector_error";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { NoData } from "./no_data";
import { Failure, Loading, InvalidSelector, Warnings } from "./notice";
import { Panes } from "./panes";
import { Unnamed } from "./unnamed";

interface ProfileProps {
	view: View;
	invalid: boolean; // the API rejected the selector: the error is shown at the selector
	window: Window;
	labels: string[];
	dark: boolean;
	change: Change;
	reload: () => void;
}

export function Profile(props: ProfileProps) {
	const { view, window } = props;
	const request = useResponse<FlameResponse>("query", {
		query: view.query,
		report: "flamegraph",
		columns: COLUMNS,
		start: window.start,
		end: window.end,
		...(view.group ? { group_by: view.group } : {}),
	});
	const { response } = request; // of the previous request while a new one is loading
	const tree = useMemo(() => (response ? treeFrom(response.data, response.params.group_by ? 1 : 0) : null), [response]);
	const empty = tree?.count === 1;
	return (
		<section class="card profile" aria-label="Profile" aria-busy={request.loading}>
			<Loading on={request.loading} />
			{props.invalid && <InvalidSelector />}
			{request.error && !props.invalid && !isSelectorError(request.error) && <Failure error={request.error} reload={props.reload} />}
			<Warnings texts={response?.warnings ?? []} />
			{tree && !empty && !request.error && <Unnamed tree={tree} query={view.query} window={window} />}
			{tree && !empty && !request.error && <Panes {...props} tree={tree} />}
			{empty && !request.error && !request.loading && <NoData view={view} window={window} change={props.change} />}
		</section>
	);
}
