// SPDX-License-Identifier: Apache-2.0
/** fleet_page - all hosts: when each was last seen, and the accounting of its samples. */
import { useMemo, useState } from "preact/hooks";

import type { Host } from "../api/responses";
import { useResponse } from "../api/use_response";
import { formatAge } from "../format/time";
import { formatCount, formatShare } from "../format/units";
import { formatMatcher } from "../selector/text";
import { RESET, type Change, follow } from "../state/history";
import { type View, viewToUrl } from "../state/view";
import { Empty, Failure, Loading } from "./notice";
import { RefreshChoice } from "./refresh";

const FRESH = 60; // seconds: an agent sends every 10 s
const LATE = 600;
const PAGE = 1000;

interface FleetProps {
	view: View;
	now: number;
	change: Change;
	reload: () => void;
}

export function FleetPage(props: FleetProps) {
	const [after, setAfter] = useState<string[]>([]); // the last host of each earlier page
	const [text, setText] = useState("");
	const request = useResponse<Host[]>("fleet", {
		limit: PAGE,
		...(after.length ? { after: after[after.length - 1] } : {}),
	});
	const hosts = request.response?.data ?? [];
	const shown = useMemo(
		() => hosts.filter((host) => `${host.node} ${host.host} ${host.version}`.toLowerCase().includes(text.toLowerCase())),
		[hosts, text],
	);
	return (
		<main>
			<section class="card fleet" aria-label="Fleet" aria-busy={request.loading}>
				<header>
					<h2>Hosts</h2>
					<input
						type="search"
						placeholder="Filter hosts"
						aria-label="Filter hosts"
						value={text}
						onInput={(event) => setText(event.currentTarget.value)}
					/>
					<span class="hint">
						sampled = stored + lost + in flight, for each of {formatCount(shown.length)} {shown.length === 1 ? "host" : "hosts"}
					</span>
					<span class="push" />
					{after.length > 0 && (
						<button type="button" onClick={() => setAfter(after.slice(0, -1))}>
							Previous {PAGE}
						</button>
					)}
					{hosts.length === PAGE && (
						<button type="button" onClick={() => setAfter([...after, hosts[hosts.length - 1].host])}>
							Next {PAGE}
						</button>
					)}
					<RefreshChoice
						every={props.view.refresh}
						fixed={false}
						choose={(refresh) => props.change({ refresh })}
						reload={props.reload}
					/>
				</header>
				<Loading on={request.loading} />
				{request.error && <Failure error={request.error} reload={props.reload} />}
				{request.response && !request.error && hosts.length === 0 && (
					<Empty title="No host has sent a profile yet">
						<p>Start the agent on a host. The host is listed here when its first batch is stored.</p>
					</Empty>
				)}
				{shown.length > 0 && <Hosts {...props} hosts={shown} />}
			</section>
		</main>
	);
}

function Hosts(props: FleetProps & { hosts: Host[] }) {
	const heads = ["Host", "Version", "Last seen", "Sampled", "Stored", "In flight", "Lost", "Truncated", "Duplicate"];
	return (
		<div class="scroller" tabIndex={0} role="region" aria-label="Hosts">
			<table>
				<thead>
					<tr>
						{heads.map((head, i) => (
							<th key={head} scope="col" class={i > 2 && head !== "Lost" && head !== "Truncated" ? "number" : undefined}>
								{head}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{props.hosts.map((host) => (
						<HostRow key={host.host} {...props} host={host} />
					))}
				</tbody>
			</table>
		</div>
	);
}

function HostRow(props: FleetProps & { host: Host }) {
	const { host, view, change } = props;
	const profiles: View = { ...view, ...RESET, page: "explore", query: `{${formatMatcher({ label: "node", op: "=", value: host.node })}}` };
	const age = props.now - host.last_seen;
	const state = age < FRESH ? "fresh" : age < LATE ? "late" : "gone";
	return (
		<tr>
			<th scope="row">
				{host.node ? (
					<a class="node" href={viewToUrl(profiles)} title="Show the profiles of this host" onClick={(event) => follow(event, () => change(profiles))}>
						{host.node}
					</a>
				) : (
					<span class="node">{host.host}</span>
				)}
				<span class="hint">{host.host}</span>
				{host.why && <span class="why">{host.why}</span>}
			</th>
			<td>{host.version || "–"}</td>
			<td>
				<span class={`state ${state}`}>
					<span class="dot" aria-hidden="true" />
					{state === "fresh" ? "" : state === "late" ? "late: " : "silent: "}
					{formatAge(age)} ago
				</span>
			</td>
			<td class="number">{formatCount(host.sampled)}</td>
			<td class="number">{formatCount(host.stored)}</td>
			<td class="number">
				{formatCount(host.in_flight)}
				{host.missing > 0 && <span class="share">{formatCount(host.missing)} batches missing</span>}
				{host.unaccounted !== 0 && <span class="share">{formatCount(host.unaccounted)} unaccounted</span>}
			</td>
			<td>
				<Reasons counts={host.lost} sampled={host.sampled} />
			</td>
			<td>
				<Reasons counts={host.truncated} sampled={host.sampled} />
			</td>
			<td class="number">
				{formatCount(host.duplicate)}
				{host.conflict > 0 && <span class="share">{formatCount(host.conflict)} in conflict</span>}
			</td>
		</tr>
	);
}

function Reasons(props: { counts: Record<string, number>; sampled: number }) {
	const reasons = Object.entries(props.counts).sort(([, a], [, b]) => b - a);
	if (reasons.length === 0) return <span class="hint">none</span>;
	const sum = reasons.reduce((all, [, count]) => all + count, 0);
	return (
		<>
			{formatCount(sum)} <span class="share">{formatShare(sum, props.sampled)}</span>
			<ul class="reasons">
				{reasons.map(([reason, count]) => (
					<li key={reason}>
						{reason.replace(/_/g, " ")} <span class="share">{formatCount(count)}</span>
					</li>
				))}
			</ul>
		</>
	);
}
