// SPDX-License-Identifier: Apache-2.0
/**
 * paint - draws a flame graph on a canvas. It keeps no state of earlier frames: each frame is drawn
 * completely, from the visible boxes.
 */
import { type Palette, shownName } from "./colors";
import { Boxes, type Viewport, layout, NARROW } from "./layout";
import { fitText, type Ruler, rulerFrom } from "./text";
import type { Tree } from "./tree";

export interface Picture {
	tree: Tree;
	kinds: Uint8Array;
	palette: Palette;
	ground: string; // background colour
	focus: number; // the node that fills the width
	found: Uint8Array | null; // by node: 1 if the search matched it; null: no search
}

const PADDING = 5;
const TEXT_MIN = 26; // pixels: a narrower box has no text

export class Painter {
	private readonly context: CanvasRenderingContext2D;
	private readonly boxes = new Boxes();
	private ruler: Ruler | null = null;
	private ratio = 1;

	constructor(
		private readonly canvas: HTMLCanvasElement,
		private readonly font: string,
	) {
		this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
	}

	/** Sizes in CSS pixels; `ratio` is device pixels per CSS pixel. */
	resize(width: number, height: number, ratio: number) {
		this.ratio = ratio;
		this.canvas.width = Math.max(1, Math.round(width * ratio));
		this.canvas.height = Math.max(1, Math.round(height * ratio));
	}

	draw(picture: Picture, viewport: Viewport) {
		const { context, boxes } = this;
		layout(picture.tree, viewport, boxes);
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		context.fillStyle = picture.ground;
		context.fillRect(0, 0, viewport.width, viewport.height);
		context.font = this.font;
		context.textBaseline = "middle";
		this.ruler ??= rulerFrom((text) => context.measureText(text).width);
		for (let i = 0; i < boxes.count; i++) this.drawBox(picture, viewport, i);
	}

	private drawBox(picture: Picture, viewport: Viewport, i: number) {
		const { boxes, context } = this;
		const { tree, palette } = picture;
		const node = boxes.node[i];
		const left = this.snap(boxes.left[i]);
		const width = Math.max(this.snap(boxes.right[i]) - left, 1 / this.ratio);
		const top = boxes.depth[i] * viewport.row - viewport.top;
		if (node === NARROW) {
			context.fillStyle = palette.narrow;
			context.fillRect(left, top, width, viewport.row - 1);
			return;
		}
		const dim = picture.found ? !picture.found[node] : boxes.depth[i] < tree.depth[picture.focus];
		const kind = picture.kinds[node];
		context.fillStyle = dim ? palette.dim[kind] : palette.fill[kind];
		context.fillRect(left, top, width > 3 ? width - 1 : width, viewport.row - 1);
		if (picture.found?.[node]) this.drawFrame(viewport, i, palette.found, 1.5);
		if (width < TEXT_MIN) return;
		const text = fitText(this.ruler as Ruler, shownName(tree, node), width - 2 * PADDING);
		if (!text) return;
		context.fillStyle = dim ? palette.dimText : palette.text;
		context.fillText(text, left + PADDING, top + viewport.row / 2);
	}

	private drawFrame(viewport: Viewport, i: number, color: string, line: number) {
		const left = this.snap(this.boxes.left[i]);
		const width = Math.max(this.snap(this.boxes.right[i]) - left - 1, 1);
		const top = this.boxes.depth[i] * viewport.row - viewport.top;
		if (width < 2 * line) {
			this.context.fillStyle = color;
			this.context.fillRect(left, top, width, viewport.row - 1);
			return;
		}
		this.context.strokeStyle = color;
		this.context.lineWidth = line;
		this.context.strokeRect(left + line / 2, top + line / 2, width - line, viewport.row - 1 - line);
	}

	private snap(x: number): number {
		return Math.round(x * this.ratio) / this.ratio;
	}
}
