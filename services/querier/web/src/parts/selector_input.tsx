// SPDX-License-Identifier: Apache-2.0
/**
 * selector_input - a text input for the selector, with completions from the server.
 *
 * A combobox: arrows select, Enter or Tab accepts the completion, Escape closes the list. Enter without
 * a selected completion runs the query.
 */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";

import { useResponse } from "../api/use_response";
import { CPU } from "./type_picker";
import { closeBraces, complete, formatMatcher, OPERATORS, type Place, placeAt, splitQuery } from "../selector/text";
import type { Window } from "../state/range";
import { sentence } from "./notice";

const SHOWN = 50;

interface SelectorProps {
	query: string;
	window: Window;
	error: string; // the API's error message; "": no error
	choose: (query: string) => void;
}

export function SelectorInput(props: SelectorProps) {
	const { type, matchers } = splitQuery(props.query);
	const [text, setText] = useState(matchers);
	const [cursor, setCursor] = useState<number | null>(null); // null: no completions are shown
	const [chosen, setChosen] = useState(-1);
	const input = useRef<HTMLInputElement>(null);
	const id = useId();

	useEffect(() => setText(matchers), [matchers]);
	const place = useMemo(() => (cursor === null ? null : placeAt(text, cursor)), [text, cursor]);
	const suggestions = useSuggestions(place, type, props.window);

	const write = (next: string, at: number) => {
		setText(next);
		setCursor(at);
		setChosen(-1);
		requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
	};
	const accept = (suggestion: string) => {
		if (!place) return;
		const completed = complete(text, place, suggestion);
		write(completed.text, completed.cursor);
	};
	const submit = () => {
		setCursor(null);
		const closed = closeBraces(text);
		setText(closed);
		props.choose(type + closed);
	};
	const follow = () => {
		const at = input.current?.selectionStart ?? null;
		if (at !== cursor) {
			setCursor(at);
			setChosen(-1);
		}
	};

	const onKeyDown = (event: KeyboardEvent) => {
		const open = suggestions.length > 0;
		if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			event.preventDefault();
			if (!open) follow();
			else setChosen((chosen + (event.key === "ArrowDown" ? 1 : -1) + suggestions.length) % suggestions.length);
		} else if (event.key === "Escape" && cursor !== null) {
			event.preventDefault();
			setCursor(null);
		} else if ((event.key === "Enter" || event.key === "Tab") && open && chosen >= 0) {
			event.preventDefault();
			accept(suggestions[chosen]);
		} else if (event.key === "Enter") {
			event.preventDefault();
			submit();
		}
	};

	return (
		<div class="field selector">
			<label for={id}>Selector</label>
			<div class="combobox">
				<input
					id={id}
					ref={input}
					value={text}
					spellcheck={false}
					autocomplete="off"
					role="combobox"
					aria-autocomplete="list"
					aria-invalid={props.error !== ""}
					aria-describedby={props.error ? `${id}-error` : undefined}
					aria-expanded={suggestions.length > 0}
					aria-controls={`${id}-suggestions`}
					aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
					onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart ?? 0)}
					onClick={follow}
					onFocus={follow}
					onKeyUp={(event) => ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && follow()}
					onBlur={() => setCursor(null)}
					onKeyDown={onKeyDown}
				/>
				<ul id={`${id}-suggestions`} role="listbox" aria-label="Completions" hidden={suggestions.length === 0}>
					{suggestions.map((suggestion, i) => (
						<li
							key={suggestion}
							id={`${id}-${i}`}
							role="option"
							aria-selected={i === chosen}
							ref={(item) => {
								if (i === chosen) item?.scrollIntoView({ block: "nearest" });
							}}
							onPointerDown={(event) => {
								event.preventDefault(); // the input keeps the focus
								accept(suggestion);
							}}
						>
							{suggestion}
						</li>
					))}
				</ul>
			</div>
			<button type="button" class="primary" onClick={submit}>
				Search
			</button>
			{props.error && (
				<p class="error" role="alert" id={`${id}-error`}>
					{sentence(props.error.replace(/^query: /, ""))}
				</p>
			)}
		</div>
	);
}

/** The completions for the position of the cursor. */
function useSuggestions(place: Place | null, type: string, window: Window): string[] {
	const match = place && `${type || CPU}{${place.others.map(formatMatcher).join(",")}}`;
	const wanted = place?.kind === "label" ? "labels" : place?.kind === "value" && place.label ? `label/${encodeURIComponent(place.label)}/values` : null;
	const values = useResponse<string[]>(
		wanted ?? "labels",
		wanted && match ? { "match[]": match, start: window.start, end: window.end } : null,
	);
	if (!place) return [];
	const typed = place.typed.replace(/^["'`]/, "").toLowerCase();
	const has = (text: string) => text.toLowerCase().includes(typed);
	switch (place.kind) {
		case "label":
			return prefixFirst((values.response?.data ?? []).filter(has), typed);
		case "op":
			return OPERATORS.filter((op) => op.startsWith(place.typed));
		case "value":
			return prefixFirst((values.response?.data ?? []).filter(has), typed);
		case "next":
			return [];
		case "none":
			return [];
	}
}

/** The values that begin with the typed text first, then those that only contain it. */
function prefixFirst(values: string[], typed: string): string[] {
	const begins = (text: string) => (text.toLowerCase().startsWith(typed) ? 0 : 1);
	return [...values].sort((a, b) => begins(a) - begins(b)).slice(0, SHOWN);
}
