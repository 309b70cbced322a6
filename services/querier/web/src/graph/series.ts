// SPDX-License-Identifier: Apache-2.0
/**
 * series - the API's matrix as the columns that a plot wants: one of times, one of values per line.
 *
 * What adds up over time is shown as a rate: CPU nanoseconds per second are cores. A step without
 * samples is 0 then, and a hole where the values are a gauge's.
 */
import type { Matrix } from "../api/responses";
import { formatValue } from "../format/units";
import type { Window } from "../state/range";

export interface Line {
	metric: Record<string, string>;
	name: string;
	sum: number; // of its values, as the API has them
	values: (number | null)[];
}

export interface Lines {
	times: number[];
	lines: Line[]; // the greatest sum first
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const POINTS = 240;

/** A round step that cuts the window into not more than 240; of 5 s, where that is more than a few:
 * at 19 samples a second finer ones show chance. */
export function stepOf(window: Window): number {
	const length = window.end - window.start;
	const smallest = Math.max(length / POINTS, length > 60 ? 5 : 1);
	return STEPS.find((step) => step >= smallest) ?? Math.ceil(smallest / 86400) * 86400;
}

/** Steps of whole hours are counted from a whole hour, of days from a day (UTC): there are sums of these. */
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
			// the first and the last one are cut off
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

/** The greatest value of all. */
export function topOf(lines: Lines): number {
	return lines.lines.reduce((top, line) => line.values.reduce<number>((most, value) => Math.max(most, value ?? 0), top), 0);
}

/** From the first step that has something to the end of the last one; null: there is none. */
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

/** Heaps and the like are looked at, not added up. */
export function isRate(type: string): boolean {
	return !/inuse|goroutine/.test(type);
}

/** A point of a line, as it is read off. */
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
