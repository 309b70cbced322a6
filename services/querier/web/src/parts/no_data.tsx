// SPDX-License-Identifier: Apache-2.0
/** no_data - nothing was found: why that may be, and what to do. */
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
					{hosts.length === 1 ? "One host sends" : `${hosts.length} hosts send`} profiles, the last{" "}
					{formatAge(Date.now() / 1000 - newest)} ago. None of their samples is in this window and of this selector.
				</p>
			)}
			<div class="actions">
				{view.pin && (
					<button type="button" onClick={() => change({ pin: null })}>
						Unpin the moment
					</button>
				)}
				{!("last" in view.range && view.range.last >= DAY) && (
					<button type="button" onClick={() => change({ pin: null, range: { last: DAY } })}>
						Look at the last day
					</button>
				)}
				{matchers !== "{}" && (
					<button type="button" onClick={() => change({ ...RESET, query: `${type}{}` })}>
						Ask without <code>{matchers}</code>
					</button>
				)}
			</div>
		</Empty>
	);
}

function NoHosts() {
	return (
		<Empty title="No host has sent a profile yet">
			<p>Start the agent on each machine that is to be profiled, as root. Its first profile is here within 20 seconds.</p>
			<pre tabIndex={0}>decima-agent --kafka-brokers=HOST:9092 --state-directory=/var/lib/decima-agent</pre>
			<p>
				If one runs: its <code>/ready</code> and its log say what it waits for, and the ingester's <code>/ready</code> whether
				it takes batches. The Fleet page lists hosts as soon as their first batch is stored.
			</p>
		</Empty>
	);
}
