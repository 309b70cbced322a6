// SPDX-License-Identifier: Apache-2.0
/**
 * colors - the colour of a frame shows its origin: a binary, or package, has the same colour in
 * every graph.
 *
 * Hues are spread around the OKLCH colour circle, where equal steps look equal, and text is equally
 * readable on all hues of one lightness. Unsymbolized frames are grey; the kernel has its own hue.
 */
import type { ColorBy } from "../state/view";
import { STEPS } from "./diff";
import { hashText } from "./path";
import { ALL, isLabel, type Tree } from "./tree";

const AROUND = 17; // hues of the circle, each in two tones
export const HUES = 2 * AROUND;
/** Kinds beyond the hues: the kernel, unknown code, levels of labels. */
export const KERNEL = HUES;
export const UNKNOWN = HUES + 1;
export const LABEL = HUES + 2;
export const KINDS = HUES + 3;

export interface Palette {
	fill: string[]; // by kind
	text: string;
	dim: string[]; // by kind: frames that the search did not match
	dimText: string;
	narrow: string;
	found: string; // outline of frames that the search matched
}

/** The kind of each node: an index into the palette. */
export function kindsOf(tree: Tree, by: ColorBy): Uint8Array {
	const kinds = new Uint8Array(tree.count);
	const kindBySource = new Map<string, number>();
	for (let i = 0; i < tree.count; i++) {
		const binary = tree.names[tree.binary[i]] ?? "";
		const name = tree.names[tree.name[i]];
		if (isLabel(tree, i)) kinds[i] = LABEL;
		else if (isKernel(binary)) kinds[i] = KERNEL;
		else if (binary === "" || (tree.address[i] && by === "package")) kinds[i] = UNKNOWN;
		else {
			const source = by === "package" ? packageOf(name, binary) : baseName(binary);
			let kind = kindBySource.get(source);
			if (kind === undefined) kindBySource.set(source, (kind = hashText(source) % HUES));
			kinds[i] = kind;
		}
	}
	return kinds;
}

/** The meaning of a node's colour, for the legend. Never empty. */
export function sourceOf(tree: Tree, node: number, by: ColorBy): string {
	const binary = tree.names[tree.binary[node]] ?? "";
	if (isKernel(binary)) return "kernel";
	return (by === "package" ? packageOf(tree.names[tree.name[node]], binary) : baseName(binary)) || "no binary";
}

/** The text in a frame's box: for a level of labels only the value. */
export function shownName(tree: Tree, node: number): string {
	const name = tree.names[tree.name[node]];
	if (!isLabel(tree, node) || node === ALL) return name;
	return name.slice(name.indexOf("=") + 1) || `no ${name.slice(0, -1)}`;
}

export function isKernel(binary: string): boolean {
	return binary === "[kernel]" || binary === "[kernel.kallsyms]" || binary === "vmlinux" || binary.endsWith(".ko");
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** Go: the import path; C++ and Rust: the outermost namespaces; Java: the package; otherwise the binary. */
export function packageOf(name: string, binary: string): string {
	const go = /^((?:[\w.-]+\/)*[\w-]+)\.(?:\(\*?[\w.]+\)|[\w]+)/.exec(name);
	if (go && (name.includes("/") || name.includes("(*"))) return go[1];
	const plain = name.replace(/<.*$/s, "").replace(/^.* (?=\w+::)/, "");
	const spaces = plain.split("::");
	if (spaces.length > 1) return spaces.slice(0, spaces.length > 2 ? 2 : 1).join("::");
	const dots = plain.split(".");
	if (dots.length > 2) return dots.slice(0, -2).join(".");
	return baseName(binary);
}

export function paletteOf(dark: boolean): Palette {
	const [light, chroma] = dark ? [0.46, 0.085] : [0.81, 0.09];
	const [dimLight, dimChroma] = dark ? [0.31, 0.02] : [0.93, 0.02];
	const paint = (lightness: number, strength: number, apart: number): string[] => {
		const fill = [];
		for (let kind = 0; kind < HUES; kind++) {
			const tone = kind < AROUND ? 0 : dark ? -apart : apart;
			fill.push(hex(lightness + tone, strength, 20 + ((kind % AROUND) * 360) / AROUND));
		}
		fill.push(hex(lightness - apart, strength * 1.15, 45)); // the kernel
		fill.push(hex(lightness, strength * 0.1, 250)); // unknown
		fill.push(hex(dark ? lightness - apart : lightness + apart, strength * 0.2, 250)); // labels
		return fill;
	};
	return {
		fill: paint(light, chroma, 0.06),
		text: dark ? "#f6f7f9" : "#16181d",
		dim: paint(dimLight, dimChroma, 0.015),
		dimText: dark ? "#a3aab5" : "#5a6270",
		narrow: hex(dark ? 0.29 : 0.945, 0.01, 250),
		found: dark ? "#ffd43b" : "#b4004e",
	};
}

/** The palette of a comparison, by step: green is better, red is worse, grey is unchanged. */
export function diffPaletteOf(dark: boolean): Palette {
	const paint = (from: number, to: number, strength: number): string[] => {
		const fill = [];
		for (let step = -STEPS; step <= STEPS; step++) {
			const part = Math.abs(step) / STEPS;
			fill.push(hex(from + (to - from) * part, step === 0 ? 0.006 : strength * (0.25 + 0.75 * part), step < 0 ? 150 : 25));
		}
		return fill;
	};
	return {
		...paletteOf(dark),
		fill: dark ? paint(0.4, 0.48, 0.14) : paint(0.9, 0.76, 0.14),
		dim: dark ? paint(0.3, 0.32, 0.035) : paint(0.94, 0.91, 0.035),
	};
}

/** OKLCH as #rrggbb, clamped to sRGB. */
export function hex(lightness: number, chroma: number, hue: number): string {
	const angle = (hue * Math.PI) / 180;
	const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const channels = [
		4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
	];
	const bytes = channels.map((linear) => {
		const bounded = Math.min(1, Math.max(0, linear));
		const gamma = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
		return Math.round(gamma * 255);
	});
	return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
