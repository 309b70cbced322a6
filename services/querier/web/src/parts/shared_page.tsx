// SPDX-License-Identifier: Apache-2.0
/** shared_page - a shared profile or comparison, as it was when the link was created. */
import { useMemo } from "preact/hooks";

import { COLUMNS, type DiffResponse, type FlameResponse, type Share, type ShareSide } from "../api/responses";
import { type RequestState, useResponse } from "../api/use_response";
import { diffTreeFrom } from "../flame/diff";
import { type Tree, treeFrom } from "../flame/tree";
import { formatMoment, formatSpan } from "../format/time";
import { RESET, type Change } from "../state/history";
import { groupCount, liveView } from "../state/share";
import type { View } from "../state/view";
import { durationRatioOf } from "./comparison";
import { Empty, Failure, Loading, Warnings } from "./notice";
import { Panes } from "./panes";

interface SharedProps {
	view: View;
	dark: boolean;
	change: Change;
	reload: () => void;
}

export function SharedPage(props: SharedProps) {
	const { share: id, mode } = props.view;
	const about = useResponse<Share>(`share/${id}`, {});
	const share = about.response?.data ?? null;
	// The share defines whether it is a profile or a comparison: the URL may have been edited.
	const one = useResponse<FlameResponse>("query", share && !share.a ? { share: id, report: "flamegraph", columns: COLUMNS } : null);
	const both = useResponse<DiffResponse>("diff", share?.a ? { share: id, columns: COLUMNS } : null);
	const request = share?.a ? both : one;
	const tree = useMemo((): Tree | null => {
		if (!share || !request.response) return null;
		const levels = groupCount(share);
		if (!share.a || !share.b) return one.response && treeFrom(one.response.data, levels);
		const { a, b } = share;
		return both.response && diffTreeFrom(both.response.data, { mode, durationRatio: durationRatioOf(b.query, a, b), levels });
	}, [one.response, both.response, share, mode]);

	return (
		<main>
			{share && <About share={share} change={props.change} />}
			<Shown {...props} about={about} request={request} share={share} tree={tree} />
		</main>
	);
}

interface ShownProps extends SharedProps {
	about: RequestState<Share>;
	request: RequestState<FlameResponse | DiffResponse>;
	share: Share | null;
	tree: Tree | null;
}

function Shown(props: ShownProps) {
	const { about, request, share, tree } = props;
	const error = about.error ?? request.error;
	return (
		<section class="card profile" aria-label="Profile" aria-busy={request.loading}>
			<Loading on={request.loading || about.loading} />
			{error && <Failure error={error} reload={props.reload} />}
			<Warnings texts={request.response?.warnings ?? []} />
			{tree && tree.count > 1 && !error && <Panes {...props} labels={[]} tree={tree} />}
			{tree?.count === 1 && !error && (
				<Empty title="No samples">
					<p>{share?.frozen ? "It had no samples when it was shared." : "Its samples have been deleted, and no copy of the profile was stored."}</p>
				</Empty>
			)}
		</section>
	);
}

function About(props: { share: Share; change: Change }) {
	const { share, change } = props;
	const { a, b } = share;
	const live = { ...RESET, ...liveView(share) };
	return (
		<section class="card shared" aria-label="Shared profile">
			<p>
				{a && b ? (
					<>
						<strong>Shared comparison</strong> of <Side side={a} /> with <Side side={b} />.{" "}
					</>
				) : (
					<>
						<strong>Shared profile</strong> of <Side side={share as ShareSide} />.{" "}
					</>
				)}
				{share.frozen ? `As it was on ${formatMoment(share.created, 0)}` : "Computed again at each visit"}
				{share.expires ? `; the link expires on ${formatMoment(share.expires, 0)}.` : "."}
			</p>
			<button type="button" title="Run the same query on the stored samples" onClick={() => change(live)}>
				{a ? "Compare live" : "Explore live"}
			</button>
		</section>
	);
}

function Side(props: { side: ShareSide }) {
	const { query, start, end } = props.side;
	return (
		<>
			<code>{query}</code>, {formatSpan(start, end)}
		</>
	);
}
