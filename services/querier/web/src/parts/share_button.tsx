// SPDX-License-Identifier: Apache-2.0
/** share_button - creates a link to the current profile as it is now, and shows the link for copying. */
import { useEffect, useRef, useState } from "preact/hooks";

import type { Share } from "../api/responses";
import { post } from "../api/client";
import type { ShareRequest } from "../state/share";
import { displayToHash, type View } from "../state/view";
import { copyText } from "./clipboard";

type Sharing = { link: string } | { error: string } | "pending" | null;

const DAY = 86400;
const EXPIRIES: [number, string][] = [
	[0, "never"],
	[DAY, "in 1 day"],
	[7 * DAY, "in 7 days"],
	[30 * DAY, "in 30 days"],
	[365 * DAY, "in a year"],
];

interface ShareProps {
	view: View;
	request: ShareRequest;
}

export function ShareButton(props: ShareProps) {
	const key = JSON.stringify(props.request);
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const button = useRef<HTMLButtonElement>(null);

	useEffect(() => setOpen(false), [key]); // another query needs another link
	useEffect(() => {
		if (!open) return;
		const away = (event: Event) => {
			if (!box.current?.contains(event.target as Node)) setOpen(false);
		};
		addEventListener("pointerdown", away);
		return () => removeEventListener("pointerdown", away);
	}, [open]);
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};

	return (
		<div class="field sharing" ref={box} onKeyDown={(event) => event.key === "Escape" && open && close()}>
			<button
				type="button"
				ref={button}
				title="Create a link to this profile as it is now"
				aria-expanded={open}
				aria-haspopup="dialog"
				onClick={() => setOpen(!open)}
			>
				Share
			</button>
			{open && <ShareDialog {...props} />}
		</div>
	);
}

function ShareDialog(props: ShareProps) {
	const [expires, setExpires] = useState(0);
	const [sharing, setSharing] = useState<Sharing>(null);

	const share = () => {
		setSharing("pending");
		post<Share>("share", { ...props.request, ...(expires ? { expires } : {}) }).then(
			(made) => setSharing({ link: new URL(made.url, location.href).href }),
			(error: unknown) => setSharing({ error: error instanceof Error ? error.message : String(error) }),
		);
	};

	return (
		<div class="dialog" role="dialog" aria-label="Share">
			<p>The link shows this profile as it is now, even after its samples are deleted.</p>
			{sharing !== null && sharing !== "pending" && "link" in sharing ? (
				<ShareLink link={sharing.link + displayToHash(props.view)} />
			) : (
				<div class="row">
					<label class="inline">
						Expires
						<select value={expires} onChange={(event) => setExpires(Number(event.currentTarget.value))}>
							{EXPIRIES.map(([seconds, name]) => (
								<option key={seconds} value={seconds}>
									{name}
								</option>
							))}
						</select>
					</label>
					<span class="push" />
					<button type="button" class="primary" disabled={sharing === "pending"} onClick={share}>
						Create link
					</button>
				</div>
			)}
			{sharing !== null && sharing !== "pending" && "error" in sharing && (
				<p class="error" role="alert">
					Sharing failed: {sharing.error}.
				</p>
			)}
		</div>
	);
}

function ShareLink(props: { link: string }) {
	const input = useRef<HTMLInputElement>(null);
	const [copied, setCopied] = useState("");

	useEffect(() => input.current?.select(), []);
	const copy = async () => {
		if (await copyText(props.link)) setCopied(props.link);
		else input.current?.select();
	};

	return (
		<div class="row">
			<input ref={input} readOnly value={props.link} aria-label="Link" />
			<button type="button" class="primary" onClick={copy}>
				{copied === props.link ? "Copied" : "Copy"}
			</button>
		</div>
	);
}
