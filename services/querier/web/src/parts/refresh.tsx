// SPDX-License-Identifier: Apache-2.0
/** refresh - the refresh button and the choice of automatic refresh. */
import { type Refresh, REFRESHES } from "../state/view";

const NAMES: Record<Refresh, string> = { 0: "off", 10: "10 s", 60: "1 min" };

interface RefreshProps {
	every: Refresh;
	fixed: boolean; // the time range is absolute, so that a refresh would show the same samples
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
				aria-label="Automatic refresh"
				title={props.fixed ? "The time range is fixed: choose “Last …” to refresh automatically" : "Automatic refresh"}
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
