// SPDX-License-Identifier: Apache-2.0
/** breadcrumbs - the path from the root to the zoomed frame. The middle of a long path is folded. */
import { nameOf, pathTo, type Tree } from "../flame/tree";

const FIRST = 2;
const LAST = 3;

export function Breadcrumbs(props: { tree: Tree; focus: number; zoom: (node: number) => void }) {
	const path = pathTo(props.tree, props.focus);
	const folded = path.length > FIRST + LAST + 1;
	const crumb = (node: number) => (
		<li key={node}>
			<button
				type="button"
				class="link"
				aria-current={node === props.focus ? "true" : undefined}
				title={nameOf(props.tree, node)}
				onClick={() => props.zoom(node)}
			>
				{nameOf(props.tree, node)}
			</button>
		</li>
	);
	return (
		<nav class="breadcrumbs" aria-label="Zoomed into">
			<ol>
				{(folded ? path.slice(0, FIRST) : path).map(crumb)}
				{folded && <li key="fold">… {path.length - FIRST - LAST} frames</li>}
				{folded && path.slice(-LAST).map(crumb)}
			</ol>
		</nav>
	);
}
