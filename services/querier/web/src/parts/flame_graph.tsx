/**
 * flame_graph - the canvas with its pointer and its keys. The canvas is as large as what is seen of
 * it; a taller spacer behind it is what scrolls.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Palette } from "../flame/colors";
import { isDiff, shares } from "../flame/diff";
import { type Lens, nodeAt, rowsOf } from "../flame/layout";
import { Painter } from "../flame/paint";
import { ALL, nameOf, type Tree } from "../flame/tree";
import { type Step, walk } from "../flame/walk";
import { formatShare, formatValue } from "../format/units";
import { type Spot, Tooltip } from "./tooltip";

const ROW = 21;
const ZOOM_MS = 180;
const KEYS: Record<string, Step> = {
	ArrowUp: "parent",
	ArrowDown: "child",
	ArrowLeft: "before",
	ArrowRight: "after",
};

export interface FlameGraphProps {
	tree: Tree;
	kinds: Uint8Array;
	palette: Palette;
	focus: number;
	found: Uint8Array | null;
	zoom: (node: number) => void;
}

export function FlameGraph(props: FlameGraphProps) {
	const { tree, focus } = props;
	const scroller = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const [chosen, setChosen] = useState(-1);
	const [spot, setSpot] = useState<Spot | null>(null);
	const rows = useMemo(() => rowsOf(tree, focus), [tree, focus]);
	const view = useDrawing(props, chosen, scroller, canvas);

	useEffect(() => {
		setChosen(-1);
		setSpot(null);
	}, [tree]);

	const at = (event: MouseEvent): number => {
		const { left, top } = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
		return nodeAt(tree, view(), event.clientX - left, event.clientY - top);
	};
	const point = (event: PointerEvent) => {
		const node = at(event);
		setChosen(node);
		setSpot(node < 0 ? null : { node, x: event.clientX, y: event.clientY });
	};
	const leave = () => {
		setChosen(-1);
		setSpot(null);
	};
	const choose = (node: number) => {
		setChosen(node);
		show(scroller.current, tree.depth[node]);
		requestAnimationFrame(() => {
			const box = canvas.current?.getBoundingClientRect();
			const lens = view();
			if (!box) return;
			const x = ((tree.start[node] - lens.from) / (lens.to - lens.from)) * lens.width;
			setSpot({ node, x: box.left + Math.min(Math.max(x, 0), lens.width), y: box.top + (tree.depth[node] + 1) * ROW - lens.top });
		});
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const step = KEYS[event.key];
		if (step) choose(chosen < 0 ? focus : walk(tree, chosen, step));
		else if (event.key === "Enter" && chosen >= 0) props.zoom(chosen);
		else if (event.key === "Escape") {
			if (spot) leave();
			else props.zoom(ALL);
		} else if (event.key === "Home") choose(ALL);
		else return;
		event.preventDefault();
	};

	return (
		<div class="flame">
			<div
				class="scroller"
				ref={scroller}
				tabIndex={0}
				role="application"
				aria-label="Flame graph. Arrows move between frames, Enter zooms, Escape shows all."
				onKeyDown={onKeyDown}
				onBlur={leave}
				onScroll={() => setSpot(null)}
			>
				<div class="spacer" style={{ height: `${rows * ROW}px` }}>
					<canvas
						ref={canvas}
						onPointerMove={point}
						onPointerLeave={leave}
						onClick={(event) => {
							const node = at(event);
							if (node >= 0) props.zoom(node);
						}}
					/>
				</div>
			</div>
			<p class="unseen" role="status">
				{chosen >= 0 && chosen < tree.count && spoken(tree, chosen)}
			</p>
			{spot && spot.node < tree.count && <Tooltip tree={tree} focus={focus} spot={spot} />}
		</div>
	);
}

/** Draw whenever something changed, on the browser's next frame; a zoom glides. Gives the lens. */
function useDrawing(
	props: FlameGraphProps,
	chosen: number,
	scroller: { current: HTMLDivElement | null },
	canvas: { current: HTMLCanvasElement | null },
): () => Lens {
	const latest = useRef({ props, chosen });
	latest.current = { props, chosen };
	const painter = useRef<Painter | null>(null);
	const lens = useRef<Lens>({ from: 0, to: 1, width: 1, top: 0, height: 1, row: ROW });
	const glide = useRef<{ from: number; to: number; began: number } | null>(null);
	const due = useRef(0);

	const draw = useCallback((now: number) => {
		due.current = 0;
		const { tree, focus } = latest.current.props;
		const target = { from: tree.start[focus], to: tree.start[focus] + Math.max(tree.total[focus], 1) };
		const part = glide.current ? Math.min(1, (now - glide.current.began) / ZOOM_MS) : 1;
		const ease = 1 - (1 - part) ** 3;
		const between = (a: number, b: number) => a + (b - a) * ease;
		lens.current.from = glide.current ? between(glide.current.from, target.from) : target.from;
		lens.current.to = glide.current ? between(glide.current.to, target.to) : target.to;
		lens.current.top = scroller.current?.scrollTop ?? 0;
		if (part === 1) glide.current = null;
		const background = canvas.current ? getComputedStyle(canvas.current).backgroundColor : "";
		painter.current?.draw({ ...latest.current.props, lens: lens.current, chosen: latest.current.chosen }, background);
		if (glide.current) due.current = requestAnimationFrame(draw);
	}, []);
	const ask = useCallback(() => {
		if (!due.current) due.current = requestAnimationFrame(draw);
	}, [draw]);

	useEffect(() => {
		if (!canvas.current || !scroller.current) return;
		const place = scroller.current;
		const made = new Painter(canvas.current, `12px ${getComputedStyle(place).fontFamily}`);
		painter.current = made;
		const resize = () => {
			const { clientWidth, clientHeight } = place;
			canvas.current?.style.setProperty("width", `${clientWidth}px`);
			canvas.current?.style.setProperty("height", `${clientHeight}px`);
			lens.current.width = Math.max(clientWidth, 1);
			lens.current.height = Math.max(clientHeight, 1);
			made.resize(clientWidth, clientHeight, devicePixelRatio);
			ask();
		};
		const observer = new ResizeObserver(resize);
		observer.observe(place);
		place.addEventListener("scroll", ask);
		return () => {
			observer.disconnect();
			place.removeEventListener("scroll", ask);
			cancelAnimationFrame(due.current);
			due.current = 0;
		};
	}, []);

	const before = useRef<Tree | null>(null); // another tree does not glide, and the first is one
	useEffect(() => {
		const still = matchMedia("(prefers-reduced-motion: reduce)").matches || before.current !== props.tree;
		before.current = props.tree;
		glide.current = still ? null : { from: lens.current.from, to: lens.current.to, began: performance.now() };
		ask();
	}, [props.tree, props.focus]);
	useEffect(ask, [props.kinds, props.palette, props.found, chosen]);
	return () => lens.current;
}

function show(scroller: HTMLElement | null, depth: number) {
	if (!scroller) return;
	const [top, bottom] = [depth * ROW, (depth + 1) * ROW];
	if (top < scroller.scrollTop) scroller.scrollTop = top;
	if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
}

function spoken(tree: Tree, node: number): string {
	if (isDiff(tree)) {
		const { aTotal, bTotal } = tree.sides;
		const [from, to] = shares(tree, aTotal[node], bTotal[node]);
		return `${nameOf(tree, node)}: before ${formatShare(from, 1)} of all, after ${formatShare(to, 1)}`;
	}
	const total = `${formatValue(tree.total[node], tree.unit)}, ${formatShare(tree.total[node], tree.total[ALL])} of all`;
	return `${nameOf(tree, node)}: total ${total}; self ${formatValue(tree.self[node], tree.unit)}`;
}
