/** shared_page - a profile that somebody made a link of, as it was then. */
import { useMemo } from "preact/hooks";

import type { FlameAnswer, Share } from "../api/answers";
import { useAnswer } from "../api/use_answer";
import { treeFrom } from "../flame/tree";
import { formatMoment, formatSpan } from "../format/time";
import { ANEW, type Change } from "../state/history";
import { groupCount, liveView } from "../state/share";
import type { View } from "../state/view";
import { Empty, Failure, Loading, Warnings } from "./notice";
import { Panes } from "./panes";

interface SharedProps {
	view: View;
	dark: boolean;
	change: Change;
	again: () => void;
}

export function SharedPage(props: SharedProps) {
	const { view } = props;
	const about = useAnswer<Share>(`share/${view.share}`, {});
	const asked = useAnswer<FlameAnswer>("query", { share: view.share, report: "flamegraph" });
	const share = about.answer?.data;
	const groups = share ? groupCount(share) : 0;
	const tree = useMemo(() => (asked.answer && share ? treeFrom(asked.answer.data, groups) : null), [asked.answer, share, groups]);
	const error = about.error ?? asked.error;
	return (
		<main>
			{share && <About share={share} change={props.change} />}
			<section class="card profile" aria-label="Profile" aria-busy={asked.loading}>
				<Loading on={asked.loading || about.loading} />
				{error && <Failure error={error} again={props.again} />}
				<Warnings texts={asked.answer?.warnings ?? []} />
				{tree && tree.count > 1 && !error && <Panes {...props} labels={[]} tree={tree} />}
				{tree?.count === 1 && !error && (
					<Empty title="Nothing is in it">
						<p>{share?.frozen ? "Nothing had been found when it was shared." : "Its samples are no longer kept, and its answer was not."}</p>
					</Empty>
				)}
			</section>
		</main>
	);
}

function About(props: { share: Share; change: Change }) {
	const { share, change } = props;
	const live = { ...ANEW, ...liveView(share) };
	return (
		<section class="card shared" aria-label="Shared profile">
			<p>
				<strong>Shared profile</strong> of <code>{share.query}</code>, {formatSpan(share.start, share.end)}.{" "}
				{share.frozen ? `As it was on ${formatMoment(share.created, 0)}` : "Asked anew each time"}
				{share.expires ? `; the link ends ${formatMoment(share.expires, 0)}.` : "."}
			</p>
			<button type="button" title="Ask the same question of what is stored" onClick={() => change(live)}>
				Explore live
			</button>
		</section>
	);
}
