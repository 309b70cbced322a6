// SPDX-License-Identifier: Apache-2.0
/** theme_switch - the button for light or dark colours. */
import type { Theme } from "../state/theme";

export function ThemeSwitch(props: { theme: Theme; choose: (theme: Theme) => void }) {
	const other = props.theme === "dark" ? "light" : "dark";
	return (
		<button type="button" class="icon" onClick={() => props.choose(other)} title={`Switch to ${other}`}>
			<span aria-hidden="true">{props.theme === "dark" ? "☀" : "☾"}</span>
			<span class="visually-hidden">Switch to {other}</span>
		</button>
	);
}
