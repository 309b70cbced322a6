// SPDX-License-Identifier: Apache-2.0
/** flame_graph - a flame graph with mouse and keyboard control, tooltip and context menu. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Palette } from "../flame/colors";
import { rowsOf } from "../flame/layout";
import { ROW, type Spot, Stage } from "../flame/stage";
import { searchFor } from "../flame/search";
import { ALL, isLabel, nameOf, type Tree } from "../flame/tree";
import { type Step, walk } from "../flame/walk";
import { Signal } from "../state/signal";
import { copyText } from "./clipboard";
import { type FrameAction, FrameMenu } from "./frame_menu";
import { Announcement } from "./announcement";
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
	find: (text: string, only: boolean) => void;
	showCallers: (name: string) => void;
}

const NOTE_MS = 2000;

export function FlameGraph(props: FlameGraphProps) {
	const { tree, kinds, palette, focus, found } = props;
	const scroller = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const marker = useRef<HTMLDivElement>(null);
	const stage = useRef<Stage | null>(null);
	const spot = useMemo(() => new Signal<Spot | null>(null), []);
	const selected = useRef(-1); // node or -1; stays selected when the tooltip is closed
	const [menu, setMenu] = useState<Spot | null>(null);
	const [note, setNote] = useState("");
	const rows = useMemo(() => rowsOf(tree, focus), [tree, focus]);

	useEffect(() => {
		if (!scroller.current || !canvas.current || !marker.current) return;
		const made = new Stage({ scroller: scroller.current, canvas: canvas.current, marker: marker.current });
		stage.current = made;
		return () => made.close();
	}, []);
	useEffect(() => stage.current?.show({ tree, kinds, palette, focus, found }), [tree, kinds, palette, focus, found]);
	useEffect(() => {
		leave();
		setMenu(null);
	}, [tree]);
	useEffect(() => {
		const later = setTimeout(() => setNote(""), NOTE_MS);
		return () => clearTimeout(later);
	}, [note]);

	const select = (node: number, where: Spot | null) => {
		selected.current = node;
		stage.current?.select(node);
		spot.set(where);
	};
	const leave = () => select(-1, null);
	const at = (event: MouseEvent): number => stage.current?.nodeAt(event.clientX, event.clientY) ?? -1;
	const point = (event: PointerEvent) => {
		const node = at(event);
		select(node, node < 0 ? null : { node, x: event.clientX, y: event.clientY });
	};
	const go = (node: number) => select(node, stage.current?.spotOf(node) ?? null);
	const copy = async (node: number) => {
		const copied = await copyText(nameOf(tree, node));
		setNote(copied ? `Copied ${nameOf(tree, node)}` : "The browser did not allow copying");
	};
	const openMenu = (event: Event, where: Spot | null) => {
		event.preventDefault();
		if (!where) return;
		spot.set(null);
		setMenu(where);
	};
	const actionsOn = (node: number): FrameAction[] => [
		{ name: "Zoom in", key: "Enter", act: () => props.zoom(node) },
		{ name: "Copy name", key: "C", act: () => copy(node) },
		...(isLabel(tree, node) ? [] : [{ name: "Show its callers", key: "", act: () => props.showCallers(nameOf(tree, node)) }]),
		{ name: "Find all occurrences", key: "", act: () => props.find(searchFor(nameOf(tree, node)), false) },
		{ name: "Show only its stacks", key: "", act: () => props.find(searchFor(nameOf(tree, node)), true) },
	];
	const onKeyDown = (event: KeyboardEvent) => {
		const step = KEYS[event.key];
		if (step) go(selected.current < 0 ? focus : walk(tree, selected.current, step));
		else if (event.key === "Home") go(ALL);
		else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))
			openMenu(event, selected.current < 0 ? null : (stage.current?.spotOf(selected.current) ?? null));
		else if (event.key.toLowerCase() === "c" && selected.current >= 0) copy(selected.current);
		else if (event.key === "Enter" && selected.current >= 0) props.zoom(selected.current);
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
				aria-label="Flame graph. Arrows move between frames, Enter zooms, C copies the name, Shift+F10 opens a menu, Escape resets the zoom."
				onKeyDown={onKeyDown}
				onBlur={() => !menu && leave()}
				onScroll={() => spot.value && canvas.current?.matches(":hover") && spot.set(null)}
			>
				<div class="spacer" style={{ height: `${rows * ROW}px` }}>
					<canvas
						ref={canvas}
						onPointerMove={point}
						onPointerLeave={leave}
						onContextMenu={(event) => {
							const node = at(event);
							select(node, null);
							openMenu(event, node < 0 ? null : { node, x: event.clientX, y: event.clientY });
						}}
						onClick={(event) => {
							const node = at(event);
							if (node >= 0) props.zoom(node);
						}}
					/>
					<div class="marker" ref={marker} style={{ height: `${ROW - 1}px` }} hidden />
				</div>
			</div>
			<Announcement tree={tree} spot={spot} />
			{menu && menu.node < tree.count && (
				<FrameMenu
					spot={menu}
					actions={actionsOn(menu.node)}
					close={() => {
						setMenu(null);
						scroller.current?.focus({ preventScroll: true });
					}}
				/>
			)}
			<p class={note ? "note" : "visually-hidden"} role="status">
				{note}
			</p>
			<Tooltip tree={tree} focus={focus} spot={spot} />
		</div>
	);
}
