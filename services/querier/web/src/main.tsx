// SPDX-License-Identifier: Apache-2.0
/** main - the header, the navigation and the selected page. */
import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

import "./style.css";
import { isLoading, Now } from "./api/use_response";
import { ComparePage } from "./parts/compare_page";
import { ExplorePage } from "./parts/explore_page";
import { FleetPage } from "./parts/fleet_page";
import { SharedPage } from "./parts/shared_page";
import { ThemeSwitch } from "./parts/theme_switch";
import { follow, useView } from "./state/history";
import { useTheme } from "./state/theme";
import { useTicker } from "./state/ticker";
import { followsNow, type Page, START, type View, viewToUrl } from "./state/view";

const NAMES: Record<Page, string> = { explore: "Profiles", compare: "Compare", fleet: "Fleet" };

function App() {
	const [view, change] = useView();
	const [theme, chooseTheme] = useTheme();
	// All requests use the same "now" until the next reload, so that graph and profile agree.
	const [now, setNow] = useState(() => Date.now() / 1000);
	const reload = useCallback(() => setNow(Date.now() / 1000), []);

	useTicker(followsNow(view) ? view.refresh : 0, reload, isLoading);

	useEffect(() => {
		if (view.page !== "fleet" && view.share) document.title = view.page === "compare" ? "Shared comparison · Decima" : "Shared profile · Decima";
		else document.title = view.page === "explore" ? `${view.query === "{}" ? "Profiles" : view.query} · Decima` : `${NAMES[view.page]} · Decima`;
	}, [view]);

	return (
		<Now.Provider value={now}>
			<header class="top">
				<a class="brand" href="/" onClick={(event) => follow(event, () => change(START))}>
					<Mark />
					Decima
				</a>
				<nav aria-label="Pages">
					{(Object.keys(NAMES) as Page[]).map((page) => {
						const there: View = { ...view, page, share: "" };
						return (
							<a
								key={page}
								href={viewToUrl(there)}
								aria-current={view.page === page && !view.share ? "page" : undefined}
								onClick={(event) => follow(event, () => change(there))}
							>
								{NAMES[page]}
							</a>
						);
					})}
				</nav>
				<span class="push" />
				<ThemeSwitch theme={theme} choose={chooseTheme} />
			</header>
			{view.page !== "fleet" && view.share && (
				<SharedPage view={view} dark={theme === "dark"} change={change} reload={reload} />
			)}
			{view.page === "explore" && !view.share && (
				<ExplorePage view={view} now={now} dark={theme === "dark"} change={change} reload={reload} />
			)}
			{view.page === "compare" && !view.share && (
				<ComparePage view={view} now={now} dark={theme === "dark"} change={change} reload={reload} />
			)}
			{view.page === "fleet" && <FleetPage view={view} now={now} change={change} reload={reload} />}
		</Now.Provider>
	);
}

function Mark() {
	return (
		<svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
			<rect x="2" y="5" width="28" height="6" rx="1.5" fill="#d9480f" />
			<rect x="2" y="13" width="18" height="6" rx="1.5" fill="#f08c00" />
			<rect x="2" y="21" width="9" height="6" rx="1.5" fill="#fcc419" />
		</svg>
	);
}

render(<App />, document.getElementById("page") as HTMLElement);
