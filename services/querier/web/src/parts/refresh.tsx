// SPDX-License-Identifier: Apache-2.0
/** refresh - asks anew, now or reload and reload. */
import { type Refresh, REFRESHES } from "../state/view";

const NAMES: Record<Refresh, string> = { 0: "off", 10: "10 s", 60: "1 min" };

interface RefreshProps {
	every: Refresh;
	fixed: boolean; // the time does not move: what is there already does not become another
	choose: (every: Refresh) => void;
	reload: () => void;
}

export function RefreshChoice(props: RefreshProps) {
	return (
		<div class="refreshing">
			<button type="button" class="icon" title="Refresh" onClick={props.reload}>
				<span aria-hidden="true">↻</span>
				<span class="visually-hidden">Refresh</span>
			</button>
			<select
				aria-label="Refresh by itself"
				title={props.fixed ? "The time is from one moment to another: choose “Last …” to follow what comes" : "Refresh by itself"}
				disabled={props.fixed}
				value={props.fixed ? 0 : props.every}
				onChange={(event) => props.choose(Number(event.currentTarget.value) as Refresh)}
			>
				{REFRESHES.map((each) => (
					<option key={each} value={each}>
						{NAMES[each]}
					</option>
				))}
			</select>
		</div>
	);
}
