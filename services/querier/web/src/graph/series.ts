// SPDX-License-Identifier: Apache-2.0
/**
 * series - converts the API's matrix to the columns of a plot: one of times, and one of values per line.
 *
 * Values that add up over time are shown as rates: CPU nanoseconds per second are cores. A step
 * without samples is 0 for a rate, and a gap for a gauge.
 */
import type { Matrix } from "../api/responses";
import { formatValue } from "../format/units";
import type { Window } from "../state/range";

export interface Line {
	metric: Record<string, string>;
	name: string;
	sum: number; // of the API's values, before they become rates
	values: (number | null)[];
}

export interface Lines {
	times: number[];
	lines: Line[]; // the greatest sum first
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const POINTS = 240;

/** A round step in seconds that divides the window into at most 240 steps. The step is at least 5 s
 * if the window is longer than 60 s: at 19 samples a second, shorter steps show noise. */
export function stepOf(window: Window): number {
	const length = window.end - window.start;
	const smallest = Math.max(length / POINTS, length > 60 ? 5 : 1);
	return STEPS.find((step) => step >= smallest) ?? Math.ceil(smallest / 86400) * 86400;
}

/** Steps of whole hours start at a full hour, steps of whole days at midnight UTC: the server has rollups for them. */
export function isAligned(step: number): boolean {
	return step % 3600 === 0;
}

export function linesFrom(matrix: Matrix, window: Window, step: number, type: string): Lines {
	const rate = isRate(type);
	const unit = step % 86400 === 0 ? 86400 : 3600;
	const first = isAligned(step) ? Math.floor(window.start / unit) * unit : window.start;
	const count = Math.ceil((window.end - first) / step - 1e-9);
	const times = Array.from({ length: count }, (_, i) => first + i * step);
	const lines = matrix.result.map(({ metric, values }) => {
		const line: Line = {
			metric,
			name: lineName(metric),
			sum: 0,
			values: new Array<number | null>(count).fill(rate ? 0 : null),
		};
		for (const [time, text] of values) {
			const at = Math.round((time - first) / step);
			// the window may cut off the first and the last step
			const length = Math.min(time + step, window.end) - Math.max(time, window.start);
			if (at < 0 || at >= count || length <= 0) continue;
			line.sum += Number(text);
			line.values[at] = rate ? Number(text) / length : Number(text);
		}
		return line;
	});
	lines.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
	return { times, lines };
}

/** The greatest value of all lines. */
export function topOf(lines: Lines): number {
	return lines.lines.reduce((top, line) => line.values.reduce<number>((most, value) => Math.max(most, value ?? 0), top), 0);
}

/** The time from the first step with a value above 0 to the end of the last one; null: no step has one. */
export function spanOf(lines: Lines, window: Window, step: number): Window | null {
	const has = lines.times.map((_, at) => lines.lines.some((line) => (line.values[at] ?? 0) > 0));
	const [first, last] = [has.indexOf(true), has.lastIndexOf(true)];
	if (first < 0) return null;
	return { start: lines.times[first], end: Math.min(lines.times[last] + step, window.end) };
}

export function lineName(metric: Record<string, string>): string {
	const values = Object.entries(metric).filter(([label]) => label !== "__name__");
	if (values.length === 0) return "all";
	return values.map(([label, value]) => value || `no ${label}`).join(", ");
}

/** False for gauges, such as heap profiles: their values do not add up over time. */
export function isRate(type: string): boolean {
	return !/inuse|goroutine/.test(type);
}

/** The value of one point of a line. */
export function formatPoint(value: number, unit: string, rate: boolean): string {
	if (!rate) return formatValue(value, unit);
	if (unit === "nanoseconds") return trim(value / 1e9);
	return `${formatValue(value, unit)}/s`;
}

export function axisName(unit: string, rate: boolean): string {
	if (unit === "nanoseconds") return rate ? "CPU cores" : "time";
	return rate ? `${unit} per second` : unit;
}

function trim(value: number): string {
	return String(Number(value.toPrecision(3)).toFixed(4)).replace(/\.?0+$/, "");
}
