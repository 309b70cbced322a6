// SPDX-License-Identifier: Apache-2.0
/**
 * graph - sums over time, one line per value of a label.
 *
 * Dragging selects a time window. A click pins one step: the flame graph then shows only that step.
 * Keyboard: arrows move, Enter pins, Shift with arrows selects a window and Enter zooms into it.
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
import { isSelectorError } from "../state/selector_error";
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
	setPin?: (pin: Window | null) => void; // missing: pinning is disabled
	narrow: (label: string, value: string) => void;
	onError?: (error: ApiError | null) => void; // with the error of the latest response
	/* Only for a side of a comparison: */
	side?: {
		top: number; // minimum upper end of the value axis
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
	// While a new window is loading, the old data must not be drawn on the new time axis.
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
	const isEmpty = shown !== null && shown.lines.length === 0;

	return (
		<section class={props.side ? "card graph small" : "card graph"} aria-label="Over time">
			{!props.side && <header>
				<h2>{axisName(unit, rate)}</h2>
				<LabelChoice name="by" none="none (one sum)" value={props.by} labels={props.labels} choose={props.split} />
				<span class="hint">drag to zoom into a time range{props.setPin && ", click to pin a step"}</span>
				{props.pin && (
					<button type="button" class="chip" onClick={() => props.setPin?.(null)}>
						{formatSpan(props.pin.start, props.pin.end)} <span aria-hidden="true">✕</span>
						<span class="visually-hidden">unpin</span>
					</button>
				)}
			</header>}
			<Loading on={request.loading} />
			{request.error && !isSelectorError(request.error) && <Failure error={request.error} reload={props.reload} />}
			{isEmpty && !request.error && (
				<p class="nothing">No samples in {formatSpan(props.window.start, props.window.end)}.</p>
			)}
			{shown && !request.error && shown.lines.length > 0 && (
				<PlotWithLegend {...props} lines={shown} step={step} unit={unit} rate={rate} omitted={omittedSeries(request.response?.warnings ?? [], unit)} />
			)}
		</section>
	);
}

type PlotWithLegendProps = GraphProps & { lines: Lines; step: number; unit: string; rate: boolean; omitted: string };

function PlotWithLegend(props: PlotWithLegendProps) {
	const { step, unit, rate } = props;
	const container = useRef<HTMLDivElement>(null);
	const lines = useFrozen(container, props.lines); // new data would interrupt a drag
	const plot = useRef<Plot | null>(null);
	const [cursor, setCursor] = useState<number | null>(null);
	const [mark, setMark] = useState<number | null>(null); // where the selection with Shift began
	const colors = lineColors(props.dark);
	const format = (value: number) => formatPoint(value, unit, rate);
	const callbacks = useRef(props);
	callbacks.current = props;

	useEffect(() => {
		if (!container.current) return;
		const style = getComputedStyle(container.current);
		plot.current = new Plot(container.current, {
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
				ref={container}
				tabIndex={0}
				role="application"
				aria-label="Graph over time. Left and right arrows move, Enter pins a step, Shift with an arrow selects a time range and Enter zooms into it."
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
								title={`${line.name}: ${formatValue(line.sum, props.unit)}. Show only this one`}
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
				{props.omitted && <li class="hint">{props.omitted}</li>}
			</ul>
		</div>
	);
}

/** The API's warnings; the one about series beyond the limit with a formatted sum. */
function omittedSeries(warnings: string[], unit: string): string {
	return warnings
		.map((text) => {
			const parts = /(\d+) more series, whose sum is (\d+)/.exec(text);
			return parts ? `and ${formatCount(Number(parts[1]))} more, ${formatValue(Number(parts[2]), unit)} in total` : text;
		})
		.join("; ");
}

function stepAt(props: PlotWithLegendProps, start: number): Window {
	return { start, end: Math.min(start + props.step, props.window.end) };
}

/** The last non-null value, so that the layout stays stable while new data is loading. */
function useLast<T>(value: T | null): T | null {
	const last = useRef<T | null>(null);
	if (value !== null) last.current = value;
	return last.current;
}
