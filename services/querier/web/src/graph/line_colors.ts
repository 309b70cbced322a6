// SPDX-License-Identifier: Apache-2.0
/** line_colors - easily distinguished colours for lines on a light and on a dark background. */
const LIGHT = ["#1864ab", "#d9480f", "#2b8a3e", "#9c36b5", "#b08500", "#0b7285", "#c2255c", "#5f3dc4", "#74512d", "#495057", "#66a80f", "#e64980"];
const DARK = ["#74c0fc", "#ff922b", "#69db7c", "#da77f2", "#ffd43b", "#3bc9db", "#f783ac", "#9775fa", "#d0a97c", "#ced4da", "#c0eb75", "#ffa8a8"];

export const LINES_MAX = LIGHT.length;

export function lineColors(dark: boolean): string[] {
	return dark ? DARK : LIGHT;
}
