// SPDX-License-Identifier: Apache-2.0
/** no_data - shown if a query has no samples: possible reasons and next steps. */
import type { Host } from "../api/responses";
import { useResponse } from "../api/use_response";
import { formatAge } from "../format/time";
import { splitQuery } from "../selector/text";
import { RESET, type Change } from "../state/history";
import type { Window } from "../state/range";
import type { View } from "../state/view";
import { Empty, Loading } from "./notice";

const DAY = 86400;

export function NoData(props: { view: View; window: Window; change: Change }) {
	const { view, change } = props;
	const fleet = useResponse<Host[]>("fleet", { limit: 100 });
	const hosts = fleet.response?.data;
	if (fleet.loading) return <Loading on />;
	if (hosts && hosts.length === 0) return <NoHosts />;

	const { type, matchers } = splitQuery(view.query);
	const newest = Math.max(...(hosts ?? []).map((host) => host.last_seen));
	return (
		<Empty title="No samples in this window">
			{hosts && (
				<p>
					{hosts.length === 1 ? "One host sends" : `${hosts.length} hosts send`} profiles, the last one{" "}
					{formatAge(Date.now() / 1000 - newest)} ago. No sample in this window matches this selector.
				</p>
			)}
			<div class="actions">
				{view.pin && (
					<button type="button" onClick={() => change({ pin: null })}>
						Unpin the step
					</button>
				)}
				{!("last" in view.range && view.range.last >= DAY) && (
					<button type="button" onClick={() => change({ pin: null, range: { last: DAY } })}>
						Show the last day
					</button>
				)}
				{matchers !== "{}" && (
					<button type="button" onClick={() => change({ ...RESET, query: `${type}{}` })}>
						Query without <code>{matchers}</code>
					</button>
				)}
			</div>
		</Empty>
	);
}

function NoHosts() {
	return (
		<Empty title="No host has sent a profile yet">
			<p>Start the agent as root on each host that you want to profile. Its first profile arrives within 20 seconds.</p>
			<pre tabIndex={0}>decima-agent --kafka-brokers=HOST:9092 --state-directory=/var/lib/decima-agent</pre>
			<p>
				If an agent runs, its <code>/ready</code> endpoint and its log show what it waits for. The ingester's{" "}
				<code>/ready</code> endpoint shows whether it accepts batches. The Fleet page lists a host when its first batch is stored.
			</p>
		</Empty>
	);
}
