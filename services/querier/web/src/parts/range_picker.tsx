// SPDX-License-Identifier: Apache-2.0
/** range_picker - chooses a time range: the last N minutes, or an absolute start and end. */
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { formatSpan, fromLocalInput, toLocalInput } from "../format/time";
import { formatDuration, parseDuration, type Range, resolveRange, spellDuration } from "../state/range";

const PRESETS: [number, string][] = [
	[300, "5 minutes"],
	[900, "15 minutes"],
	[3600, "1 hour"],
	[3 * 3600, "3 hours"],
	[6 * 3600, "6 hours"],
	[12 * 3600, "12 hours"],
	[86400, "1 day"],
	[2 * 86400, "2 days"],
	[7 * 86400, "7 days"],
];

export function rangeName(range: Range): string {
	if ("last" in range) {
		const preset = PRESETS.find(([seconds]) => seconds === range.last);
		return `Last ${preset ? preset[1] : spellDuration(range.last)}`;
	}
	return formatSpan(range.from, range.to);
}

export function RangePicker(props: { range: Range; now: number; choose: (range: Range) => void }) {
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const id = useId();
	const button = useRef<HTMLButtonElement>(null);

	useEffect(() => {
		if (!open) return;
		const away = (event: Event) => {
			if (!box.current?.contains(event.target as Node)) setOpen(false);
		};
		addEventListener("pointerdown", away);
		addEventListener("focusin", away);
		return () => {
			removeEventListener("pointerdown", away);
			removeEventListener("focusin", away);
		};
	}, [open]);
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	const choose = (range: Range) => {
		close();
		props.choose(range);
	};

	return (
		<div class="field" ref={box} onKeyDown={(event) => open && event.key === "Escape" && close()}>
			<span id={`${id}-name`}>Time</span>
			<button
				type="button"
				class="picker"
				ref={button}
				aria-expanded={open}
				aria-haspopup="dialog"
				aria-labelledby={`${id}-name ${id}-value`}
				onClick={() => setOpen(!open)}
			>
				<span id={`${id}-value`}>{rangeName(props.range)}</span>
			</button>
			{open && <Choices range={props.range} now={props.now} choose={choose} />}
		</div>
	);
}

function Choices(props: { range: Range; now: number; choose: (range: Range) => void }) {
	const window = resolveRange(props.range, props.now);
	const [from, setFrom] = useState(toLocalInput(window.start));
	const [to, setTo] = useState(toLocalInput(window.end));
	const [last, setLast] = useState("last" in props.range ? formatDuration(props.range.last) : "");
	const moments = [fromLocalInput(from), fromLocalInput(to)] as const;
	const ordered = moments[0] !== null && moments[1] !== null && moments[0] < moments[1];
	const seconds = parseDuration(last);

	return (
		<div class="popover" role="dialog" aria-label="Time range">
			<div class="presets">
				{PRESETS.map(([each, name]) => (
					<button
						type="button"
						key={each}
						aria-pressed={"last" in props.range && props.range.last === each}
						onClick={() => props.choose({ last: each })}
					>
						Last {name}
					</button>
				))}
			</div>
			<div class="ends">
				<form
					onSubmit={(event) => {
						event.preventDefault();
						if (seconds) props.choose({ last: seconds });
					}}
				>
					<label>
						Last
						<input value={last} placeholder="90m" size={8} onInput={(event) => setLast(event.currentTarget.value)} />
					</label>
					<button type="submit" disabled={!seconds}>
						Apply
					</button>
				</form>
				<form
					onSubmit={(event) => {
						event.preventDefault();
						if (ordered) props.choose({ from: moments[0] as number, to: moments[1] as number });
					}}
				>
					<label>
						From
						<input
							type="datetime-local"
							step="1"
							value={from}
							onInput={(event) => setFrom(event.currentTarget.value)}
						/>
					</label>
					<label>
						To
						<input type="datetime-local" step="1" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
					</label>
					<button type="submit" disabled={!ordered}>
						Apply
					</button>
					{!ordered && <p role="status">“From” must be before “to”.</p>}
				</form>
			</div>
		</div>
	);
}
