// SPDX-License-Identifier: Apache-2.0
/** history - the URL as the page's state. Only this module uses `window.history`. */
import { useCallback, useEffect, useState } from "preact/hooks";

import { START, type View, viewFromUrl, viewToUrl } from "./view";

/** `replace` adds no history entry: for text that is typed letter by letter. */
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

/** Fields to reset with a new query, because they refer to the old response. */
export const RESET: Partial<View> = { pin: null, zoom: START.zoom, callers: START.callers };

/** The display settings of a shared link, after "#", move into the query string. */
if (location.hash.length > 1) {
	const query = `${location.search.slice(1)}&${location.hash.slice(1)}`;
	history.replaceState(null, "", viewToUrl(viewFromUrl(location.pathname, query)));
}

function current(): View {
	return viewFromUrl(location.pathname, location.search);
}

/** Handles a click on a link within the page, unless the click opens a new tab or window. */
export function follow(event: MouseEvent, go: () => void) {
	if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
	event.preventDefault();
	go();
}
