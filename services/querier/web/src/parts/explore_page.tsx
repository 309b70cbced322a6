// SPDX-License-Identifier: Apache-2.0
/** explore_page - a query, its graph over time, and the profile of its time window. */
import { useMemo } from "preact/hooks";

import { useResponse } from "../api/use_response";
import { addMatcher, splitQuery } from "../selector/text";
import { RESET, type Change } from "../state/history";
import { resolveRange } from "../state/range";
import { useSelectorError } from "../state/selector_error";
import { shareRequest } from "../state/share";
import { followsNow, type View } from "../state/view";
import { Graph } from "./graph";
import { Profile } from "./profile";
import { RefreshChoice } from "./refresh";
import { RangePicker } from "./range_picker";
import { SelectorInput } from "./selector_input";
import { ShareButton } from "./share_button";
import { CPU, TypePicker } from "./type_picker";

interface ExploreProps {
	view: View;
	now: number;
	dark: boolean;
	change: Change;
	reload: () => void;
}

export function ExplorePage(props: ExploreProps) {
	const { view, now, change, reload } = props;
	const window = useMemo(() => resolveRange(view.range, now), [view.range, now]);
	const times = { start: window.start, end: window.end };
	const type = splitQuery(view.query).type || CPU;
	const types = useResponse<string[]>("profile_types", times);
	const labels = useResponse<string[]>("labels", { ...times, "match[]": `${type}{}` });
	const [error, reportError] = useSelectorError(view.query);

	return (
		<main>
			<div class="toolbar">
				<TypePicker
					query={view.query}
					types={types.response?.data ?? []}
					choose={(query) => change({ ...RESET, query })}
				/>
				<SelectorInput query={view.query} window={window} error={error} choose={(query) => change({ ...RESET, query })} />
				<RangePicker range={view.range} now={now} choose={(range) => change({ pin: null, range })} />
				<button
					type="button"
					title="Compare with the preceding time range of the same length"
					onClick={() => change({ page: "compare", pin: null, range: view.pin ? { from: view.pin.start, to: view.pin.end } : view.range })}
				>
					Compare
				</button>
				<ShareButton view={view} request={shareRequest(view, view.pin ?? window)} />
				<RefreshChoice
					every={view.refresh}
					fixed={!followsNow(view)}
					choose={(refresh) => change({ refresh })}
					reload={reload}
				/>
			</div>
			<Graph
				query={view.query}
				window={window}
				pin={view.pin}
				by={view.by}
				labels={labels.response?.data ?? []}
				dark={props.dark}
				reload={reload}
				onError={reportError}
				split={(by) => change({ by })}
				zoom={({ start, end }) => change({ pin: null, range: { from: start, to: end } })}
				setPin={(pin) => change({ pin })}
				narrow={(label, value) => change({ ...RESET, query: addMatcher(view.query, label, "=", value) })}
			/>
			<Profile
				invalid={error !== ""}
				view={view}
				window={view.pin ?? window}
				labels={labels.response?.data ?? []}
				dark={props.dark}
				change={change}
				reload={reload}
			/>
		</main>
	);
}
