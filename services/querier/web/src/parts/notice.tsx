// SPDX-License-Identifier: Apache-2.0
/** notice - errors, warnings, empty states and the loading indicator. */
import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/client";

export function Failure(props: { error: ApiError; reload: () => void }) {
	return (
		<div class="notice failure" role="alert">
			<p>{sentence(props.error.message)}</p>
			<button type="button" onClick={props.reload}>
				Try again
			</button>
		</div>
	);
}

export function Warnings(props: { texts: string[] }) {
	if (props.texts.length === 0) return null;
	return (
		<ul class="notice warning" role="status">
			{props.texts.map((text) => (
				<li key={text}>{sentence(text)}</li>
			))}
		</ul>
	);
}

export function Empty(props: { title: string; children: ComponentChildren }) {
	return (
		<div class="empty">
			<h3>{props.title}</h3>
			{props.children}
		</div>
	);
}

/** Shown in place of a profile if the API rejected the selector. */
export function InvalidSelector() {
	return (
		<Empty title="Invalid selector">
			<p>The selector above cannot be parsed. The error is shown below it.</p>
		</Empty>
	);
}

export function Loading(props: { on: boolean }) {
	return <div class={props.on ? "loading on" : "loading"} role="progressbar" aria-label="Loading" hidden={!props.on} />;
}

/** The text with an initial capital and a full stop. */
export function sentence(text: string): string {
	const begun = text.charAt(0).toUpperCase() + text.slice(1);
	return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
