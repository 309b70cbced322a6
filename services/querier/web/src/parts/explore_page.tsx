// SPDX-License-Identifier: Apache-2.0
/** explore_page - a question, its graph over time, and the profile of its window. */
import { useMemo } from "preact/hooks";

import { useAnswer } from "../api/use_answer";
import { addMatcher, splitQuery } from "../selector/text";
import { ANEW, type Change } from "../state/history";
import { resolveRange } from "../state/range";
import { useFault } from "../state/fault";
import { shareOf } from "../state/share";
import { movesOn, type View } from "../state/view";
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
	again: () => void;
}

export function ExplorePage(props: ExploreProps) {
	const { view, now, change, again } = props;
	const window = useMemo(() => resolveRange(view.range, now), [view.range, now]);
	const known = { start: window.start, end: window.end };
	const type = splitQuery(view.query).type || CPU;
	const types = useAnswer<string[]>("profile_types", known);
	const labels = useAnswer<string[]>("labels", { ...known, "match[]": `${type}{}` });
	const [fault, tellFault] = useFault(view.query);

	return (
		<main>
			<div class="toolbar">
				<TypePicker
					query={view.query}
					types={types.answer?.data ?? []}
					choose={(query) => change({ ...ANEW, query })}
				/>
				<SelectorInput query={view.query} window={window} fault={fault} choose={(query) => change({ ...ANEW, query })} />
				<RangePicker range={view.range} now={now} choose={(range) => change({ pin: null, range })} />
				<button
					type="button"
					title="With what was before: as long a time, just before this one"
					onClick={() => change({ page: "compare", pin: null, range: view.pin ? { from: view.pin.start, to: view.pin.end } : view.range })}
				>
					Compare
				</button>
				<ShareButton view={view} wish={shareOf(view, view.pin ?? window)} />
				<RefreshChoice
					every={view.refresh}
					fixed={!movesOn(view)}
					choose={(refresh) => change({ refresh })}
					again={again}
				/>
			</div>
			<Graph
				query={view.query}
				window={window}
				pin={view.pin}
				by={view.by}
				labels={labels.answer?.data ?? []}
				dark={props.dark}
				again={again}
				onError={tellFault}
				split={(by) => change({ by })}
				zoom={({ start, end }) => change({ pin: null, range: { from: start, to: end } })}
				setPin={(pin) => change({ pin })}
				narrow={(label, value) => change({ ...ANEW, query: addMatcher(view.query, label, "=", value) })}
			/>
			<Profile
				faulty={fault !== ""}
				view={view}
				window={view.pin ?? window}
				labels={labels.answer?.data ?? []}
				dark={props.dark}
				change={change}
				again={again}
			/>
		</main>
	);
}
