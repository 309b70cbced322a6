// SPDX-License-Identifier: Apache-2.0
/**
 * graph - sums over time, a line for each value of a label.
 *
 * Dragging over it is a window, a click pins one step: the flame graph is then of that step alone.
 * With the keys: arrows move, Enter pins, Shift with arrows marks a window that Enter takes.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";

import type { Matrix } from "../api/responses";
import type { ApiError } from "../api/client";
import { useResponse } from "../api/use_response";
import { formatCount, formatShare, formatValue } from "../format/units";
import { formatMoment, formatSpan } from "../format/time";
import { LINES_MAX, lineColors } from "../graph/line_colors";
import { Plot } from "../graph/plot";
import { axisName, formatPoint, isAligned, isRate, type Line, type Lines, linesFrom, stepOf } from "../graph/series";
import { splitQuery } from "../selector/text";
import { isFault } from "../state/fault";
import type { Window } from "../state/range";
import { LabelChoice } from "./label_choice";
import { Failure, Loading } from "./notice";
import { useFrozen } from "./use_frozen";
import { CPU, unitOfType } from "./type_picker";

interface GraphProps {
	query: string;
	window: Window;
	pin: Window | null;
	by: string;
	labels: string[];
	dark: boolean;
	reload: () => void;
	split: (by: string) => void;
	zoom: (window: Window) => void;
	setPin?: (pin: Window | null) => void; // not there: nothing is pinned here
	narrow: (label: string, value: string) => void;
	onError?: (error: ApiError | null) => void; // of the last response
	/* Of graphs that are compared: */
	side?: {
		top: number; // what the axis goes up to, at least
		onLines: (lines: Lines) => void;
	};
}

export function Graph(props: GraphProps) {
	const type = splitQuery(props.query).type || CPU;
	const unit = unitOfType(type);
	const rate = isRate(type);
	const step = stepOf(props.window);
	const request = useResponse<Matrix>("query_range", {
		query: props.query,
		start: props.window.start,
		end: props.window.end,
		step,
		...(isAligned(step) && { align: 1 }),
		sum_by: props.by,
		limit: LINES_MAX,
	});
	const matrix = request.response?.data;
	// While another window is awaited the old lines would be drawn on its times: they wait too.
	const lines = useMemo(
		() => (matrix && !request.loading ? linesFrom(matrix, props.window, step, type) : null),
		[matrix, request.loading, props.window.start, props.window.end, step, type],
	);
	const shown = useLast(lines);
	useEffect(() => {
		if (shown) props.side?.onLines(shown);
	}, [shown]);
	useEffect(() => {
		if (!request.loading) props.onError?.(request.error);
	}, [request.error, request.loading]);
	const nothing = shown !== null && shown.lines.length === 0;

	return (
		<section class={props.side ? "card graph small" : "card graph"} aria-label="Over time">
			{!props.side && <header>
				<h2>{axisName(unit, rate)}</h2>
				<LabelChoice name="by" none="nothing: one sum" value={props.by} labels={props.labels} choose={props.split} />
				<span class="hint">drag to zoom into a time{props.setPin && ", click to pin a moment"}</span>
				{props.pin && (
					<button type="button" class="chip" onClick={() => props.setPin?.(null)}>
						{formatSpan(props.pin.start, props.pin.end)} <span aria-hidden="true">✕</span>
						<span class="visually-hidden">unpin</span>
					</button>
				)}
			</header>}
			<Loading on={request.loading} />
			{request.error && !isFault(request.error) && <Failure error={request.error} reload={props.reload} />}
			{nothing && !request.error && (
				<p class="nothing">No samples in {formatSpan(props.window.start, props.window.end)}.</p>
			)}
			{shown && !request.error && shown.lines.length > 0 && (
				<PlotWithLegend {...props} lines={shown} step={step} unit={unit} rate={rate} left={leftOut(request.response?.warnings ?? [], unit)} />
			)}
		</section>
	);
}

type PlotWithLegendProps = GraphProps & { lines: Lines; step: number; unit: string; rate: boolean; left: string };

function PlotWithLegend(props: PlotWithLegendProps) {
	const { step, unit, rate } = props;
	const place = useRef<HTMLDivElement>(null);
	const lines = useFrozen(place, props.lines); // what comes in meanwhile would break a drag off
	const plot = useRef<Plot | null>(null);
	const [cursor, setCursor] = useState<number | null>(null);
	const [mark, setMark] = useState<number | null>(null); // where Shift began
	const colors = lineColors(props.dark);
	const format = (value: number) => formatPoint(value, unit, rate);
	const callbacks = useRef(props);
	callbacks.current = props;

	useEffect(() => {
		if (!place.current) return;
		const style = getComputedStyle(place.current);
		plot.current = new Plot(place.current, {
			lines,
			colors,
			step,
			pin: props.pin,
			compact: props.side !== undefined,
			top: props.side?.top ?? 0,
			ink: style.color,
			grid: style.borderTopColor,
			format,
			onWindow: (window) => callbacks.current.zoom(window),
			onStep: (start) => callbacks.current.setPin?.(stepAt(callbacks.current, start)),
			onCursor: setCursor,
		});
		return () => plot.current?.destroy();
	}, [lines, props.dark, props.pin?.start, props.pin?.end, props.side?.top]);

	const onKeyDown = (event: KeyboardEvent) => {
		const count = lines.times.length;
		const at = cursor ?? count - 1;
		if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
			event.preventDefault();
			if (event.shiftKey && mark === null) setMark(at);
			if (!event.shiftKey) setMark(null);
			const next = Math.min(count - 1, Math.max(0, at + (event.key === "ArrowLeft" ? -1 : 1)));
			setCursor(next);
			plot.current?.setCursor(next);
		} else if (event.key === "Enter" && cursor !== null) {
			event.preventDefault();
			const [first, last] = [Math.min(mark ?? cursor, cursor), Math.max(mark ?? cursor, cursor)];
			if (mark !== null && first !== last) props.zoom({ start: lines.times[first], end: lines.times[last] + step });
			else props.setPin?.(stepAt(props, lines.times[cursor]));
			setMark(null);
		} else if (event.key === "Escape") {
			setMark(null);
			if (props.pin) props.setPin?.(null);
		}
	};

	return (
		<>
			<div
				class="plot"
				ref={place}
				tabIndex={0}
				role="application"
				aria-label="Graph over time. Left and right move, Enter pins a moment, Shift with left and right marks a time that Enter zooms into."
				onKeyDown={onKeyDown}
			/>
			<Legend {...props} lines={lines} cursor={cursor} colors={colors} format={format} highlight={(line) => plot.current?.highlight(line)} />
			<p class="visually-hidden" role="status">
				{cursor !== null && mark !== null && `from ${formatMoment(lines.times[mark])} to ${formatMoment(lines.times[cursor])}`}
			</p>
		</>
	);
}

function Legend(
	props: PlotWithLegendProps & {
		cursor: number | null;
		colors: string[];
		format: (value: number) => string;
		highlight: (line: number) => void;
	},
) {
	const { lines, cursor } = props;
	const whole = lines.lines.reduce((sum, line) => sum + line.sum, 0);
	const value = (line: Line): string => {
		if (cursor === null || cursor >= line.values.length) {
			return props.rate ? formatShare(line.sum, whole) : "";
		}
		const at = line.values[cursor];
		return at === null ? "–" : props.format(at);
	};
	return (
		<div class="legend">
			<p class="when">
				{cursor !== null && cursor < lines.times.length ? formatMoment(lines.times[cursor]) : props.side ? axisName(props.unit, props.rate) : "whole range"}
			</p>
			<ul onPointerLeave={() => props.highlight(-1)}>
				{lines.lines.map((line, i) => (
					<li key={line.name} onPointerEnter={() => props.highlight(i)}>
						<span class="swatch" style={{ background: props.colors[i] }} />
						{props.by && line.metric[props.by] !== undefined ? (
							<button
								type="button"
								class="link"
								title={`${line.name}: ${formatValue(line.sum, props.unit)}. Show this one only`}
								onClick={() => props.narrow(props.by, line.metric[props.by])}
							>
								{line.name}
							</button>
						) : (
							<span class="name">{line.name}</span>
						)}
						<span class="number">{value(line)}</span>
					</li>
				))}
				{props.left && <li class="hint">{props.left}</li>}
			</ul>
		</div>
	);
}

/** What the API says of those beyond the limit, with the sum as people read it. */
function leftOut(warnings: string[], unit: string): string {
	return warnings
		.map((text) => {
			const parts = /(\d+) more series, whose sum is (\d+)/.exec(text);
			return parts ? `and ${formatCount(Number(parts[1]))} more, ${formatValue(Number(parts[2]), unit)} together` : text;
		})
		.join("; ");
}

function stepAt(props: PlotWithLegendProps, start: number): Window {
	return { start, end: Math.min(start + props.step, props.window.end) };
}

/** The last that was there: so nothing jumps while the next is awaited. */
function useLast<T>(value: T | null): T | null {
	const last = useRef<T | null>(null);
	if (value !== null) last.current = value;
	return last.current;
}
