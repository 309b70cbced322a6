// SPDX-License-Identifier: Apache-2.0
/** text - truncates a name to a width, with a table of character widths instead of canvas measurements. */

export interface Ruler {
	widths: Float64Array; // by character code, 0 to 127
	other: number; // of all other characters
}

export function rulerFrom(measure: (text: string) => number): Ruler {
	const widths = new Float64Array(128);
	for (let code = 32; code < 127; code++) widths[code] = measure(String.fromCharCode(code));
	return { widths, other: measure("世") };
}

/** The name, its beginning with "…", or "" if fewer than three characters fit. */
export function fitText(ruler: Ruler, name: string, width: number): string {
	const dots = widthOf(ruler, 0x2026) * 0.9;
	let used = 0;
	let fits = 0; // characters that leave room for the dots
	for (let i = 0; i < name.length; i++) {
		used += widthOf(ruler, name.charCodeAt(i));
		if (used + dots <= width) fits = i + 1;
		if (used > width) return fits < 3 ? "" : `${name.slice(0, fits)}…`;
	}
	return name;
}

function widthOf(ruler: Ruler, code: number): number {
	return code < 128 ? ruler.widths[code] : ruler.other;
}
