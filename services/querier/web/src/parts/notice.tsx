// SPDX-License-Identifier: Apache-2.0
/** notice - what went wrong, what was left out, what is not there yet; and what to do about it. */
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

/** Where an response would be to a question that was refused. */
export function InvalidSelector() {
	return (
		<Empty title="Nothing is asked">
			<p>The selector above cannot be read. What is wrong with it stands below it.</p>
		</Empty>
	);
}

export function Loading(props: { on: boolean }) {
	return <div class={props.on ? "loading on" : "loading"} role="progressbar" aria-label="Loading" hidden={!props.on} />;
}

/** As a sentence: a capital in front, a full stop behind. */
export function sentence(text: string): string {
	const begun = text.charAt(0).toUpperCase() + text.slice(1);
	return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
