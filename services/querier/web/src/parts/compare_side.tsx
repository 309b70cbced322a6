// SPDX-License-Identifier: Apache-2.0
/** compare_side - one side of a comparison: its selector, its time range and its graph. */
import { useEffect } from "preact/hooks";

import type { Lines } from "../graph/series";
import { addMatcher } from "../selector/text";
import { useSelectorError } from "../state/selector_error";
import type { Range, Window } from "../state/range";
import { Graph } from "./graph";
import { RangePicker } from "./range_picker";
import { SelectorInput } from "./selector_input";

interface SideProps {
	name: string;
	query: string;
	range: Range;
	window: Window;
	now: number;
	by: string;
	dark: boolean;
	top: number; // greatest value of both graphs, so that they have the same scale
	choose: (part: { query?: string; range?: Range }) => void;
	onLines: (lines: Lines) => void;
	onInvalid: (invalid: boolean) => void;
	reload: () => void;
}

export function CompareSide(props: SideProps) {
	const { name, query, window, choose } = props;
	const [error, reportError] = useSelectorError(query);
	useEffect(() => props.onInvalid(error !== ""), [error]);

	return (
		<section class="side" aria-label={name}>
			<div class="toolbar compact">
				<h2>{name}</h2>
				<SelectorInput query={query} window={window} error={error} choose={(next) => choose({ query: next })} />
				<RangePicker range={props.range} now={props.now} choose={(range) => choose({ range })} />
			</div>
			<Graph
				query={query}
				window={window}
				pin={null}
				by={props.by}
				labels={[]}
				dark={props.dark}
				reload={props.reload}
				onError={reportError}
				split={() => undefined}
				zoom={({ start, end }) => choose({ range: { from: start, to: end } })}
				side={{ top: props.top, onLines: props.onLines }}
				narrow={(label, value) => choose({ query: addMatcher(query, label, "=", value) })}
			/>
		</section>
	);
}
