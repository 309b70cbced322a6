// SPDX-License-Identifier: Apache-2.0
/** plot - a wrapper of uPlot: lines over time. Dragging selects a time window, a click selects a step. */
import uPlot from "uplot";

import type { Window } from "../state/range";
import { tickTimes } from "../format/time";
import type { Lines } from "./series";

export interface PlotOptions {
	lines: Lines;
	colors: string[]; // by line
	step: number;
	pin: Window | null;
	compact: boolean; // only one line of text fits below the time axis
	top: number; // minimum upper end of the value axis
	ink: string; // text colour
	grid: string;
	format: (value: number) => string;
	onWindow: (window: Window) => void;
	onStep: (start: number) => void;
	onCursor: (index: number | null) => void;
}

const DRAG_MIN = 6; // pixels: a shorter drag is a click

export class Plot {
	private readonly plot: uPlot;
	private readonly resized: ResizeObserver;

	constructor(
		container: HTMLElement,
		private readonly options: PlotOptions,
	) {
		const { lines } = options;
		const axis = { stroke: options.ink, grid: { stroke: options.grid, width: 1 }, ticks: { stroke: options.grid, width: 1 } };
		this.plot = new uPlot(
			{
				...sizeOf(container),
				legend: { show: false },
				cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: DRAG_MIN }, points: { size: 6 } },
				scales: { y: { range: (_, __, max) => [0, Math.max(max, options.top) * 1.05 || 1] } },
				axes: [
					{ ...axis, space: 80, size: sizeOfTimes, values: (_, ticks, __, ___, interval) => this.times(ticks, interval) },
					{ ...axis, size: 56, values: (_, ticks) => ticks.map(options.format) },
				],
				series: [
					{},
					...lines.lines.map((line, i) => ({
						label: line.name,
						stroke: options.colors[i],
						width: 1.5,
						points: { show: false },
						...(lines.lines.length === 1 ? { fill: `${options.colors[i]}33` } : {}),
					})),
				],
				hooks: {
					setSelect: [(plot) => this.selected(plot)],
					setCursor: [(plot) => options.onCursor(plot.cursor.idx ?? null)],
					drawClear: [(plot) => this.drawPin(plot)],
					ready: [(plot) => plot.over.addEventListener("click", () => this.clicked(plot))],
				},
			},
			[lines.times, ...lines.lines.map((line) => line.values)],
			container,
		);
		this.resized = new ResizeObserver(() => this.plot.setSize(sizeOf(container)));
		this.resized.observe(container);
	}

	/** Dims all lines but one; -1: shows all lines normally. */
	highlight(line: number) {
		this.options.lines.lines.forEach((_, i) => {
			const series = this.plot.series[i + 1];
			series.alpha = line < 0 || i === line ? 1 : 0.15;
		});
		this.plot.redraw(false);
	}

	/** Moves the cursor to an index of `times`, for the keyboard. */
	setCursor(index: number) {
		const left = this.plot.valToPos(this.options.lines.times[index], "x");
		this.plot.setCursor({ left, top: 1 });
	}

	private times(ticks: number[], interval: number): string[] {
		const texts = tickTimes(ticks, interval);
		return this.options.compact ? texts.map((text) => text.split("\n")[0]) : texts;
	}

	destroy() {
		this.resized.disconnect();
		this.plot.destroy();
	}

	private dragged = false;

	private selected(plot: uPlot) {
		const { left, width } = plot.select;
		if (width < DRAG_MIN) return;
		this.dragged = true;
		const start = plot.posToVal(left, "x");
		const end = plot.posToVal(left + width, "x");
		plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
		this.options.onWindow({ start: Math.round(start), end: Math.max(Math.round(end), Math.round(start) + 1) });
	}

	private clicked(plot: uPlot) {
		if (this.dragged) {
			this.dragged = false;
			return;
		}
		const index = plot.cursor.idx;
		if (index !== null && index !== undefined) this.options.onStep(this.options.lines.times[index]);
	}

	private drawPin(plot: uPlot) {
		const { pin } = this.options;
		if (!pin) return;
		const left = plot.valToPos(pin.start, "x", true);
		const right = plot.valToPos(pin.end, "x", true);
		plot.ctx.fillStyle = this.options.grid;
		plot.ctx.fillRect(left, plot.bbox.top, Math.max(right - left, 2), plot.bbox.height);
	}
}

/** The size of the element without its padding. */
function sizeOf(container: HTMLElement): { width: number; height: number } {
	return { width: Math.max(container.clientWidth - 16, 100), height: container.clientHeight };
}

/** The height of the time axis: two lines if a tick has a date. */
function sizeOfTimes(_: uPlot, texts: string[] | null): number {
	return texts?.some((text) => text.includes("\n")) ? 44 : 30;
}
