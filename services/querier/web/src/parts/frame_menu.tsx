// SPDX-License-Identifier: Apache-2.0
/** frame_menu - the context menu of a frame, opened by the right mouse button or the keyboard. */
import { useLayoutEffect, useRef } from "preact/hooks";

import type { Spot } from "../flame/stage";

export interface FrameAction {
	name: string;
	key: string; // keyboard shortcut without the menu; "": none
	act: () => void;
}

interface MenuProps {
	spot: Spot;
	actions: FrameAction[];
	close: () => void;
}

export function FrameMenu(props: MenuProps) {
	const { spot, actions, close } = props;
	const box = useRef<HTMLDivElement>(null);

	useLayoutEffect(() => {
		const { current } = box;
		if (!current) return;
		const { width, height } = current.getBoundingClientRect();
		const left = Math.max(8, Math.min(spot.x, innerWidth - width - 8));
		const top = Math.max(8, Math.min(spot.y, innerHeight - height - 8));
		current.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
		current.querySelector("button")?.focus();
		const away = (event: Event) => {
			if (!current.contains(event.target as Node)) close();
		};
		addEventListener("pointerdown", away);
		return () => removeEventListener("pointerdown", away);
	}, [spot]);

	const onKeyDown = (event: KeyboardEvent) => {
		const items = [...(box.current?.querySelectorAll("button") ?? [])];
		const at = items.indexOf(document.activeElement as HTMLButtonElement);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
		if (to !== undefined) items.at(to % items.length)?.focus();
		else if (event.key === "Escape" || event.key === "Tab") close();
		else return;
		event.preventDefault();
		event.stopPropagation();
	};

	return (
		<div class="menu" ref={box} role="menu" aria-label="Frame" onKeyDown={onKeyDown}>
			{actions.map(({ name, key, act }) => (
				<button
					type="button"
					key={name}
					role="menuitem"
					tabIndex={-1}
					onClick={() => {
						close();
						act();
					}}
				>
					{name}
					{key && <kbd>{key}</kbd>}
				</button>
			))}
		</div>
	);
}
