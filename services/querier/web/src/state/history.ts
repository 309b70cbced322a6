// SPDX-License-Identifier: Apache-2.0
/** history - the browser's address as the page's state: the one place that knows `window.history`. */
import { useCallback, useEffect, useState } from "preact/hooks";

import { START, type View, viewFromUrl, viewToUrl } from "./view";

/** `replace` does not add a step to go back to: for what is typed letter by letter. */
export type Change = (change: Partial<View>, how?: "push" | "replace") => void;

export function useView(): [View, Change] {
	const [view, setView] = useState(current);

	useEffect(() => {
		const back = () => setView(current());
		addEventListener("popstate", back);
		return () => removeEventListener("popstate", back);
	}, []);

	const change = useCallback<Change>((part, how = "push") => {
		const next = { ...current(), ...part };
		const url = viewToUrl(next);
		if (url !== location.pathname + location.search) {
			if (how === "push") history.pushState(null, "", url);
			else history.replaceState(null, "", url);
		}
		setView(next);
	}, []);
	return [view, change];
}

/** Another question: what was chosen in the old one's answer does not go with it. */
export const RESET: Partial<View> = { pin: null, zoom: START.zoom, callers: START.callers };

/** What a shared link says behind "#" of how to look at it becomes a part of the address. */
if (location.hash.length > 1) {
	const query = `${location.search.slice(1)}&${location.hash.slice(1)}`;
	history.replaceState(null, "", viewToUrl(viewFromUrl(location.pathname, query)));
}

function current(): View {
	return viewFromUrl(location.pathname, location.search);
}

/** A link within the page, unless it is to be opened elsewhere. */
export function follow(event: MouseEvent, go: () => void) {
	if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
	event.preventDefault();
	go();
}
