// SPDX-License-Identifier: Apache-2.0
/** theme - light or dark: the system's preference, unless the user chose the other one. */
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const KEY = "decima-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export function useTheme(): [Theme, (theme: Theme) => void] {
	const [chosen, setChosen] = useState<Theme | null>(stored);
	const [preferred, setPreferred] = useState<Theme>(systemTheme);
	const theme = chosen ?? preferred;

	useEffect(() => {
		const follow = () => setPreferred(systemTheme());
		system.addEventListener("change", follow);
		return () => system.removeEventListener("change", follow);
	}, []);
	document.documentElement.dataset.theme = theme;

	const choose = (next: Theme) => {
		const same = next === systemTheme(); // follow the system again
		if (same) localStorage.removeItem(KEY);
		else localStorage.setItem(KEY, next);
		setChosen(same ? null : next);
	};
	return [theme, choose];
}

function systemTheme(): Theme {
	return system.matches ? "dark" : "light";
}

function stored(): Theme | null {
	const text = localStorage.getItem(KEY);
	return text === "light" || text === "dark" ? text : null;
}
