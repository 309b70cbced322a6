// SPDX-License-Identifier: Apache-2.0
/** unnamed - the line that says for how much of a profile the function is unknown, and what helps. */
import { useMemo, useState } from "preact/hooks";

import type { UnnamedResponse } from "../api/responses";
import { useResponse } from "../api/use_response";
import type { Tree } from "../flame/tree";
import { ALL } from "../flame/tree";
import { unnamedOf } from "../flame/unsymbolized";
import { formatShare } from "../format/units";
import type { Window } from "../state/range";
import { sentence } from "./notice";

const LEAST = 0.01; // of the profile: below that nothing is shown
const NAMED = 3; // binaries in the line

export function Unnamed(props: { tree: Tree; query: string; window: Window }) {
	const [open, setOpen] = useState(false);
	const found = useMemo(() => unnamedOf(props.tree), [props.tree]);
	const total = props.tree.total[ALL];
	if (found.value < LEAST * total) return null;
	const named = found.binaries.slice(0, NAMED).map((each) => `${each.name || "generated code"} ${formatShare(each.value, total)}`);
	const more = found.binaries.length > NAMED ? ", and others" : "";
	return (
		<details class="notice unnamed" onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>
				{formatShare(found.value, total)} has no function names: {named.join(", ")}
				{more}. What helps?
			</summary>
			{open && <Remedies query={props.query} window={props.window} />}
		</details>
	);
}

function Remedies(props: { query: string; window: Window }) {
	const { response, error } = useResponse<UnnamedResponse>("unnamed", {
		query: props.query,
		start: props.window.start,
		end: props.window.end,
	});
	if (error) return <p role="alert">{sentence(error.message)}</p>;
	if (!response) return <p>Loading…</p>;
	const { rows, total } = response.data;
	return (
		<table>
			<thead>
				<tr>
					<th>Binary</th>
					<th class="number">Share</th>
					<th>Why</th>
					<th>What helps</th>
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<tr key={`${row.binary} ${row.reason_code}`}>
						<td>{row.binary || "unknown"}</td>
						<td class="number">{formatShare(row.self, total)}</td>
						<td>{sentence(row.reason)}</td>
						<td>{sentence(row.remedy)}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
