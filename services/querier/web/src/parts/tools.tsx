// SPDX-License-Identifier: Apache-2.0
/** tools - the toolbar of a profile: panes, search, call direction, grouping, mode and colours. */
import { useEffect, useRef } from "preact/hooks";

import type { SearchResult } from "../flame/search";
import { ALL, type Tree } from "../flame/tree";
import { formatCount, formatShare } from "../format/units";
import type { Change } from "../state/history";
import { type ColorBy, COLORS, EVERY, type Mode, MODES, PANES, type Panes, type View } from "../state/view";
import { LabelChoice } from "./label_choice";

const PANE_NAMES: Record<Panes, string> = { both: "Both", flame: "Flame graph", table: "Table" };
const MODE_NAMES: Record<Mode, string> = { rate: "rates", relative: "shares", absolute: "values" };
const COLOR_NAMES: Record<ColorBy, string> = { binary: "binary", package: "package" };

interface ToolsProps {
	view: View;
	compared: boolean;
	whole: Tree; // before the filter "only these stacks"
	found: SearchResult | null;
	searchError: string;
	labels: string[];
	change: Change;
}

export function Tools(props: ToolsProps) {
	const { view, change } = props;
	return (
		<header>
			<div class="segments" role="group" aria-label="Panes">
				{PANES.map((panes) => (
					<button type="button" key={panes} aria-pressed={view.panes === panes} onClick={() => change({ panes })}>
						{PANE_NAMES[panes]}
					</button>
				))}
			</div>
			<Search {...props} />
			{view.panes !== "table" && <OrderChoice {...props} />}
			{view.share === "" && <GroupChoice {...props} />}
			{props.compared ? <ModeChoice {...props} /> : <ColorChoice {...props} />}
		</header>
	);
}

/** Calls from the root, or from functions to their callers. */
function OrderChoice(props: ToolsProps) {
	const { view, change } = props;
	const one = view.callers !== "" && view.callers !== EVERY;
	return (
		<span class="inline order">
			<select
				aria-label="Call direction"
				title="Calls from the root, or from each function to its callers"
				value={view.callers}
				onChange={(event) => change({ callers: event.currentTarget.value, zoom: "" })}
			>
				<option value="">Calls</option>
				<option value={EVERY}>Callers</option>
				{one && <option value={view.callers}>Callers of {view.callers}</option>}
			</select>
		</span>
	);
}

/** Not for a share: its grouping was fixed when it was created. */
function GroupChoice(props: ToolsProps) {
	const { view, change } = props;
	return (
		<LabelChoice
			name="group by"
			none="none"
			value={view.group}
			labels={props.labels}
			choose={(group) => change({ group, zoom: "" })}
		/>
	);
}

/** Rates, shares of each side's total, or unscaled values: see flame/diff.ts. */
function ModeChoice(props: ToolsProps) {
	const { view, change } = props;
	return (
		<label class="inline">
			compare
			<select value={view.mode} onChange={(event) => change({ mode: event.currentTarget.value as Mode })}>
				{MODES.map((mode) => (
					<option key={mode} value={mode}>
						{MODE_NAMES[mode]}
					</option>
				))}
			</select>
		</label>
	);
}

function ColorChoice(props: ToolsProps) {
	const { view, change } = props;
	return (
			<label class="inline">
				colour by
				<select value={view.color} onChange={(event) => change({ color: event.currentTarget.value as ColorBy })}>
					{COLORS.map((color) => (
						<option key={color} value={color}>
							{COLOR_NAMES[color]}
						</option>
					))}
				</select>
			</label>
	);
}

function Search(props: ToolsProps) {
	const { view, change, found, searchError, whole } = props;
	const input = useRef<HTMLInputElement>(null);

	useEffect(() => {
		const slash = (event: KeyboardEvent) => {
			const { target } = event;
			if (event.key !== "/" || (target instanceof HTMLElement && target.matches("input, select, textarea"))) return;
			event.preventDefault();
			input.current?.focus();
		};
		addEventListener("keydown", slash);
		return () => removeEventListener("keydown", slash);
	}, []);

	return (
		<div class="search">
			<input
				type="search"
				ref={input}
				placeholder="Find frames  ( / )"
				aria-label="Find frames: part of a name, or /regular expression/"
				aria-invalid={searchError !== ""}
				value={view.search}
				onInput={(event) => change({ search: event.currentTarget.value }, "replace")}
				onKeyDown={(event) => event.key === "Escape" && change({ search: "", only: false }, "replace")}
			/>
			{found && (
				<label class="inline">
					<input type="checkbox" checked={view.only} onChange={(event) => change({ only: event.currentTarget.checked })} />
					only these stacks
				</label>
			)}
			<span class={searchError ? "matched error" : "matched"} role="status">
				{searchError}
				{found && `${formatShare(found.sum, whole.total[ALL])} matched, ${formatCount(found.count)} ${found.count === 1 ? "frame" : "frames"}`}
			</span>
		</div>
	);
}
