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
export const ANEW: Partial<View> = { pin: null, zoom: START.zoom };

function current(): View {
	return viewFromUrl(location.pathname, location.search);
}
