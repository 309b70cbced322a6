// SPDX-License-Identifier: Apache-2.0
/**
 * stage - zooms, scrolls and animates a flame graph on its canvas. Changes are drawn in the next
 * animation frame of the browser; a new size is drawn at once, since resizing a canvas clears it.
 *
 * The canvas is as large as the visible part of the graph; a taller spacer behind it scrolls. The
 * marker of the selected node is a separate element above the canvas, so that moving the pointer does
 * not draw the canvas again.
 */
import { type Viewport, nodeAt } from "./layout";
import { Painter, type Picture } from "./paint";
import type { Tree } from "./tree";

export const ROW = 21; // pixels
export const ZOOM_MS = 180;

/** A node, and the position in the window for its tooltip or menu. */
export interface Spot {
	node: number;
	x: number;
	y: number;
}

export interface Elements {
	scroller: HTMLElement;
	canvas: HTMLCanvasElement;
	marker: HTMLElement;
}

export class Stage {
	private readonly viewport: Viewport = { from: 0, to: 1, width: 1, top: 0, height: 1, row: ROW };
	private readonly painter: Painter;
	private readonly resized: ResizeObserver;
	private picture: Picture | null = null;
	private selected = -1;
	private animation: { from: number; to: number; began: number } | null = null;
	private frameRequest = 0;

	constructor(private readonly at: Elements) {
		this.painter = new Painter(at.canvas, `12px ${getComputedStyle(at.scroller).fontFamily}`);
		this.resized = new ResizeObserver(() => this.resize());
		this.resized.observe(at.scroller);
		at.scroller.addEventListener("scroll", this.scheduleDraw);
	}

	close() {
		this.resized.disconnect();
		this.at.scroller.removeEventListener("scroll", this.scheduleDraw);
		cancelAnimationFrame(this.frameRequest);
	}

	/** A new focus in the same tree is animated; a new tree is shown at once. */
	show(picture: Omit<Picture, "ground">) {
		const { picture: before, viewport } = this;
		if (before?.tree !== picture.tree) {
			this.animation = null;
			this.select(-1);
		} else if (before.focus !== picture.focus && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
			this.animation = { from: viewport.from, to: viewport.to, began: performance.now() };
		}
		this.picture = { ...picture, ground: getComputedStyle(this.at.canvas).backgroundColor };
		this.scheduleDraw();
	}

	/** Selects a node; -1: no node. */
	select(node: number) {
		if (node === this.selected) return;
		this.selected = node;
		this.mark();
	}

	/** The node at a position in the window; -1: no node. */
	nodeAt(x: number, y: number): number {
		const { left, top } = this.at.canvas.getBoundingClientRect();
		return this.picture ? nodeAt(this.picture.tree, this.viewport, x - left, y - top) : -1;
	}

	/** The spot of a node; scrolls to the node if it is not visible. */
	spotOf(node: number): Spot {
		const { scroller, canvas } = this.at;
		const { tree } = this.picture as Picture;
		const [top, bottom] = [tree.depth[node] * ROW, (tree.depth[node] + 1) * ROW];
		if (top < scroller.scrollTop) scroller.scrollTop = top;
		if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
		const box = canvas.getBoundingClientRect();
		const [left] = this.sidesOf(tree, node);
		return { node, x: box.left + Math.max(left, 0), y: box.top + bottom - scroller.scrollTop };
	}

	private sidesOf(tree: Tree, node: number): [number, number] {
		const { from, to, width } = this.viewport;
		const scale = width / (to - from);
		return [(tree.start[node] - from) * scale, (tree.start[node] + tree.total[node] - from) * scale];
	}

	private resize() {
		const { clientWidth, clientHeight } = this.at.scroller;
		this.at.canvas.style.width = `${clientWidth}px`;
		this.at.canvas.style.height = `${clientHeight}px`;
		this.viewport.width = Math.max(clientWidth, 1);
		this.viewport.height = Math.max(clientHeight, 1);
		this.painter.resize(clientWidth, clientHeight, devicePixelRatio);
		cancelAnimationFrame(this.frameRequest);
		this.draw(performance.now());
	}

	private readonly scheduleDraw = () => {
		if (!this.frameRequest) this.frameRequest = requestAnimationFrame(this.draw);
	};

	private readonly draw = (now: number) => {
		this.frameRequest = 0;
		if (!this.picture) return;
		this.move(this.picture, now);
		this.viewport.top = this.at.scroller.scrollTop;
		this.painter.draw(this.picture, this.viewport);
		this.mark();
		if (this.animation) this.scheduleDraw();
	};

	private move({ tree, focus }: Picture, now: number) {
		const { animation, viewport } = this;
		const [from, to] = [tree.start[focus], tree.start[focus] + Math.max(tree.total[focus], 1)];
		const progress = animation ? Math.min(1, Math.max(0, now - animation.began) / ZOOM_MS) : 1;
		const ease = 1 - (1 - progress) ** 3;
		viewport.from = animation ? animation.from + (from - animation.from) * ease : from;
		viewport.to = animation ? animation.to + (to - animation.to) * ease : to;
		if (progress === 1) this.animation = null;
	}

	/** Places the marker around the selected node. */
	private mark() {
		const { marker } = this.at;
		const tree = this.picture?.tree;
		const shown = tree !== undefined && this.selected >= 0 && this.selected < tree.count;
		marker.hidden = !shown;
		if (!shown) return;
		const [begin, end] = this.sidesOf(tree, this.selected);
		const [left, right] = [Math.max(begin, 0), Math.min(end, this.viewport.width)];
		marker.style.width = `${Math.max(right - left - 1, 2)}px`;
		marker.style.transform = `translate(${left}px, ${tree.depth[this.selected] * ROW}px)`;
	}
}
