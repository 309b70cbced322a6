// SPDX-License-Identifier: Apache-2.0
/** units - formats values of profiles with units. */

const TIMES: [number, string][] = [
	[86400e9, "d"],
	[3600e9, "h"],
	[60e9, "min"],
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"],
];
const BYTES: [number, string][] = [
	[2 ** 40, "TiB"],
	[2 ** 30, "GiB"],
	[2 ** 20, "MiB"],
	[2 ** 10, "KiB"],
	[1, "B"],
];
const COUNTS: [number, string][] = [
	[1e12, "T"],
	[1e9, "G"],
	[1e6, "M"],
	[1e3, "k"],
	[1, ""],
];

/** "1.23 s", "4.5 min", "2 MiB": three significant digits. */
export function formatValue(value: number, unit: string): string {
	if (value === 0) return "0";
	const steps = unit === "nanoseconds" ? TIMES : unit === "bytes" ? BYTES : COUNTS;
	const [size, name] = steps.find(([lower]) => Math.abs(value) >= 0.9995 * lower) ?? steps[steps.length - 1];
	return `${digits(value / size)}${name && (steps === COUNTS ? name : ` ${name}`)}`;
}

/** "12.3%". A value above 0 is never shown as 0%. */
export function formatShare(part: number, whole: number): string {
	if (whole === 0) return "0%";
	const percent = (part / whole) * 100;
	if (percent !== 0 && Math.abs(percent) < 0.01) return "< 0.01%";
	return `${percent.toFixed(percent >= 99.995 || percent === 0 ? 0 : Math.abs(percent) >= 10 ? 1 : 2)}%`;
}

/** A change with its sign: "+1.5 s", "−3 ms", "0". */
export function formatChange(change: number, unit: string): string {
	if (change === 0) return "0";
	return `${change > 0 ? "+" : "−"}${formatValue(Math.abs(change), unit)}`;
}

/** A relative change: "+66%", "−100%"; "new" if the value was 0 before. */
export function formatGrowth(from: number, to: number): string {
	if (from === to) return "no change";
	if (from === 0) return "new";
	const percent = ((to - from) / from) * 100;
	const size = Math.abs(percent);
	if (size >= 1000) return `×${(to / from).toPrecision(3)}`;
	return `${percent > 0 ? "+" : "−"}${size < 0.1 ? "< 0.1" : size.toFixed(size >= 10 ? 0 : 1)}%`;
}

/** The change of a share in percentage points: "+1.2 pp". */
export function formatPoints(from: number, to: number): string {
	const points = (to - from) * 100;
	if (Math.abs(points) < 0.005) return "0";
	return `${points > 0 ? "+" : "−"}${Math.abs(points).toFixed(Math.abs(points) >= 10 ? 1 : 2)} pp`;
}

/** An integer with thousands separators. */
export function formatCount(value: number): string {
	return value.toLocaleString("en-US");
}

function digits(value: number): string {
	const size = Math.abs(value);
	return value
		.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
		.replace(/(\.\d*?)0+$/, "$1")
		.replace(/\.$/, "");
}
