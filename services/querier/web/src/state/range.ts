// SPDX-License-Identifier: Apache-2.0
/** range - a time range: the last N seconds, or from one point in time to another. */

export type Range = { last: number } | { from: number; to: number };

/** A range resolved at one point in time: [start, end), in Unix seconds. */
export interface Window {
	start: number;
	end: number;
}

export const HOUR: Range = { last: 3600 };

const UNITS: [string, number][] = [
	["d", 86400],
	["h", 3600],
	["m", 60],
	["s", 1],
];

/** Seconds as a duration in the greatest unit that divides them: 5400 is "90m", 3600 "1h". */
export function formatDuration(seconds: number): string {
	for (const [unit, size] of UNITS) {
		if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
	}
	return `${seconds}s`;
}

/** The same in words: "90 minutes". */
export function spellDuration(seconds: number): string {
	const words: Record<string, string> = { d: "days", h: "hours", m: "minutes", s: "seconds" };
	return formatDuration(seconds).replace(/(\d+)(\w)/, (_, count: string, unit: string) => `${count} ${words[unit]}`);
}

/** "90m" or "1h30m" in seconds; null if the text is not a duration. */
export function parseDuration(text: string): number | null {
	const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.trim());
	if (!parts || text.trim() === "") return null;
	const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
	const sum = days * 86400 + hours * 3600 + minutes * 60 + seconds;
	return sum > 0 && Number.isSafeInteger(sum) ? sum : null;
}

/** The range as text for a URL: "1h", or "1787479200..1787482800". */
export function formatRange(range: Range): string {
	return "last" in range ? formatDuration(range.last) : formatWindow({ start: range.from, end: range.to });
}

export function parseRange(text: string): Range | null {
	const window = parseWindow(text);
	if (window) return { from: window.start, to: window.end };
	const last = parseDuration(text);
	return last ? { last } : null;
}

export function formatWindow(window: Window): string {
	return `${trim(window.start)}..${trim(window.end)}`;
}

export function parseWindow(text: string): Window | null {
	const ends = /^(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)$/.exec(text);
	if (!ends) return null;
	const [start, end] = [Number(ends[1]), Number(ends[2])];
	return start < end && end < 1e11 ? { start, end } : null;
}

/** The window of a range; `now` is in Unix seconds. */
export function resolveRange(range: Range, now: number): Window {
	if ("last" in range) return { start: now - range.last, end: now };
	return { start: range.from, end: range.to };
}

/** The preceding window of the same length. */
export function windowBefore(window: Window): Window {
	return { start: window.start - (window.end - window.start), end: window.start };
}

/** The first and the second half of a window. */
export function halvesOf(window: Window): [Window, Window] {
	const middle = (window.start + window.end) / 2;
	return [
		{ start: window.start, end: middle },
		{ start: middle, end: window.end },
	];
}

/** Rounded to milliseconds, the precision of the API. */
function trim(seconds: number): string {
	return String(Math.round(seconds * 1000) / 1000);
}
