/** flame_graph - the stage with its pointer and its keys, and what is said of the frame they are at. */
import { useEffect, useMemo, useRef } from "preact/hooks";

import { type Palette } from "../flame/colors";
import { rowsOf } from "../flame/layout";
import { ROW, type Spot, Stage } from "../flame/stage";
import { ALL, type Tree } from "../flame/tree";
import { type Step, walk } from "../flame/walk";
import { Signal } from "../state/signal";
import { Spoken } from "./spoken";
import { Tooltip } from "./tooltip";

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
	const { tree, kinds, palette, focus, found } = props;
	const scroller = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const marker = useRef<HTMLDivElement>(null);
	const stage = useRef<Stage | null>(null);
	const spot = useMemo(() => new Signal<Spot | null>(null), []);
	const chosen = useRef(-1); // stays where the tooltip is closed
	const rows = useMemo(() => rowsOf(tree, focus), [tree, focus]);

	useEffect(() => {
		if (!scroller.current || !canvas.current || !marker.current) return;
		const made = new Stage({ scroller: scroller.current, canvas: canvas.current, marker: marker.current });
		stage.current = made;
		return () => made.close();
	}, []);
	useEffect(() => stage.current?.show({ tree, kinds, palette, focus, found }), [tree, kinds, palette, focus, found]);
	useEffect(() => leave(), [tree]);

	const choose = (node: number, where: Spot | null) => {
		chosen.current = node;
		stage.current?.choose(node);
		spot.set(where);
	};
	const leave = () => choose(-1, null);
	const at = (event: MouseEvent): number => stage.current?.nodeAt(event.clientX, event.clientY) ?? -1;
	const point = (event: PointerEvent) => {
		const node = at(event);
		choose(node, node < 0 ? null : { node, x: event.clientX, y: event.clientY });
	};
	const go = (node: number) => choose(node, stage.current?.spotOf(node) ?? null);
	const onKeyDown = (event: KeyboardEvent) => {
		const step = KEYS[event.key];
		if (step) go(chosen.current < 0 ? focus : walk(tree, chosen.current, step));
		else if (event.key === "Home") go(ALL);
		else if (event.key === "Enter" && chosen.current >= 0) props.zoom(chosen.current);
		else if (event.key === "Escape") {
			if (spot.value) leave();
			else props.zoom(ALL);
		} else return;
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
				onScroll={() => spot.value && canvas.current?.matches(":hover") && spot.set(null)}
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
					<div class="marker" ref={marker} style={{ height: `${ROW - 1}px` }} hidden />
				</div>
			</div>
			<Spoken tree={tree} spot={spot} />
			<Tooltip tree={tree} focus={focus} spot={spot} />
		</div>
	);
}
