// SPDX-License-Identifier: Apache-2.0
/** share_button - makes a link of what is shown, as it is now, and shows it to be copied. */
import { useEffect, useRef, useState } from "preact/hooks";

import type { Share } from "../api/answers";
import { tell } from "../api/client";
import type { Wish } from "../state/share";
import { lookToHash, type View } from "../state/view";
import { copyText } from "./clipboard";

type Sharing = { link: string } | { fault: string } | "asked" | null;

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
	wish: Wish;
}

export function ShareButton(props: ShareProps) {
	const key = JSON.stringify(props.wish);
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const button = useRef<HTMLButtonElement>(null);

	useEffect(() => setOpen(false), [key]); // another question is another link
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
				title="A link to what is shown, as it is now"
				aria-expanded={open}
				aria-haspopup="dialog"
				onClick={() => setOpen(!open)}
			>
				Share
			</button>
			{open && <Making {...props} />}
		</div>
	);
}

function Making(props: ShareProps) {
	const [expires, setExpires] = useState(0);
	const [sharing, setSharing] = useState<Sharing>(null);

	const share = () => {
		setSharing("asked");
		tell<Share>("share", { ...props.wish, ...(expires ? { expires } : {}) }).then(
			(made) => setSharing({ link: new URL(made.url, location.href).href }),
			(error: unknown) => setSharing({ fault: error instanceof Error ? error.message : String(error) }),
		);
	};

	return (
		<div class="made" role="dialog" aria-label="Share">
			<p>Whoever has the link sees this as it is now, also when its samples are gone.</p>
			{sharing !== null && sharing !== "asked" && "link" in sharing ? (
				<Made link={sharing.link + lookToHash(props.view)} />
			) : (
				<div class="row">
					<label class="inline">
						It ends
						<select value={expires} onChange={(event) => setExpires(Number(event.currentTarget.value))}>
							{EXPIRIES.map(([seconds, name]) => (
								<option key={seconds} value={seconds}>
									{name}
								</option>
							))}
						</select>
					</label>
					<span class="push" />
					<button type="button" class="primary" disabled={sharing === "asked"} onClick={share}>
						Make the link
					</button>
				</div>
			)}
			{sharing !== null && sharing !== "asked" && "fault" in sharing && (
				<p class="fault" role="alert">
					It was not shared: {sharing.fault}.
				</p>
			)}
		</div>
	);
}

function Made(props: { link: string }) {
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
