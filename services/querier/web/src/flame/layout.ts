// SPDX-License-Identifier: Apache-2.0
/**
 * layout - which rectangles of a tree are visible, and which node is at a point.
 *
 * A Viewport is the visible part of the tree: `from` to `to` in the profile's unit fills `width`
 * pixels; the rows from `top` to `top + height` pixels are visible. The walk skips the subtree of a
 * node that is outside or narrower than a pixel, so its cost depends on the visible boxes, not on the
 * size of the tree. Adjacent narrow nodes become one box without a node, so that no place looks empty.
 */
import type { Tree } from "./tree";

export interface Viewport {
	from: number;
	to: number;
	width: number;
	top: number;
	height: number;
	row: number; // height of a row
}

/** Visible boxes as columns that are reused for the next frame; `count` rows are filled. */
export class Boxes {
	count = 0;
	node = new Int32Array(1024); // NARROW: several narrow nodes
	depth = new Int32Array(1024);
	left = new Float64Array(1024);
	right = new Float64Array(1024);

	push(node: number, depth: number, left: number, right: number): number {
		if (this.count === this.node.length) this.grow();
		const at = this.count++;
		this.node[at] = node;
		this.depth[at] = depth;
		this.left[at] = left;
		this.right[at] = right;
		return at;
	}

	private grow() {
		const bigger = <T extends Int32Array | Float64Array>(old: T): T => {
			const made = new (old.constructor as new (len: number) => T)(old.length * 2);
			made.set(old);
			return made;
		};
		this.node = bigger(this.node);
		this.depth = bigger(this.depth);
		this.left = bigger(this.left);
		this.right = bigger(this.right);
	}
}

export const NARROW = -1;
const PIXELS_MIN = 1;
const APART = 1; // greatest gap in pixels between narrow nodes of one box

/** Fills `boxes` with the visible boxes. */
export function layout(tree: Tree, viewport: Viewport, boxes: Boxes): void {
	const scale = viewport.width / (viewport.to - viewport.from);
	const slack = (viewport.to - viewport.from) * 1e-9; // for rounding errors of sums of floats
	const first = Math.floor(viewport.top / viewport.row);
	const last = Math.floor((viewport.top + viewport.height - 1) / viewport.row);
	const narrow = new Int32Array(last + 1).fill(-1); // by depth: the narrow box that may grow
	boxes.count = 0;
	for (let i = 0; i < tree.count; ) {
		const depth = tree.depth[i];
		const begin = tree.start[i];
		const end = begin + tree.total[i];
		if (depth > last || end <= viewport.from + slack || begin >= viewport.to - slack) {
			i = tree.end[i];
			continue;
		}
		const left = Math.max(0, (begin - viewport.from) * scale);
		const right = Math.min(viewport.width, (end - viewport.from) * scale);
		if (right - left < PIXELS_MIN) {
			if (depth >= first) putNarrow(boxes, narrow, depth, left, right);
			i = tree.end[i];
			continue;
		}
		if (depth >= first) boxes.push(i, depth, left, right);
		i++;
	}
}

function putNarrow(boxes: Boxes, narrow: Int32Array, depth: number, left: number, right: number) {
	const open = narrow[depth];
	if (open >= 0 && left - boxes.right[open] <= APART) boxes.right[open] = right;
	else narrow[depth] = boxes.push(NARROW, depth, left, right);
}

/** The node at a point of the viewport (y from its top edge); -1: none. */
export function nodeAt(tree: Tree, viewport: Viewport, x: number, y: number): number {
	if (x < 0 || x >= viewport.width || y < 0) return -1;
	const value = viewport.from + (x / viewport.width) * (viewport.to - viewport.from);
	const depth = Math.floor((y + viewport.top) / viewport.row);
	let at = 0;
	while (tree.depth[at] < depth) {
		const child = childAt(tree, at, value);
		if (child < 0) return -1;
		at = child;
	}
	return at;
}

function childAt(tree: Tree, node: number, value: number): number {
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
		if (value < tree.start[child]) return -1;
		if (value < tree.start[child] + tree.total[child]) return child;
	}
	return -1;
}

/** The number of rows, counted from the root, if only this subtree is shown. */
export function rowsOf(tree: Tree, node: number): number {
	let deepest = tree.depth[node];
	for (let i = node; i < tree.end[node]; i++) deepest = Math.max(deepest, tree.depth[i]);
	return deepest + 1;
}
