/** share_button - makes a link of what is shown, as it is now, and shows it to be copied. */
import { useEffect, useRef, useState } from "preact/hooks";

import type { Share } from "../api/answers";
import { tell } from "../api/client";
import type { Window } from "../state/range";
import { shareOf } from "../state/share";
import type { View } from "../state/view";

type Sharing = { link: string } | { fault: string } | "asked" | null;

interface ShareProps {
	view: View;
	window: Window;
}

export function ShareButton(props: ShareProps) {
	const wish = shareOf(props.view, props.window);
	const key = JSON.stringify(wish);
	const [sharing, setSharing] = useState<Sharing>(null);
	const asked = useRef("");

	// Another question is another link.
	useEffect(() => {
		asked.current = "";
		setSharing(null);
	}, [key]);

	const share = () => {
		asked.current = key;
		setSharing("asked");
		const show = (next: Sharing) => asked.current === key && setSharing(next);
		tell<Share>("share", wish).then(
			(made) => show({ link: new URL(made.url, location.href).href }),
			(error: unknown) => show({ fault: error instanceof Error ? error.message : String(error) }),
		);
	};

	return (
		<div class="field sharing">
			<button
				type="button"
				title="Makes a link to this profile as it is now"
				disabled={sharing === "asked"}
				onClick={share}
			>
				Share
			</button>
			{sharing !== null && sharing !== "asked" && <Made sharing={sharing} close={() => setSharing(null)} />}
		</div>
	);
}

function Made(props: { sharing: { link: string } | { fault: string }; close: () => void }) {
	const { sharing, close } = props;
	const input = useRef<HTMLInputElement>(null);
	const [copied, setCopied] = useState(false);

	useEffect(() => input.current?.select(), [sharing]);

	// Over plain HTTP a browser gives no clipboard; then the older way copies what is selected.
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(input.current?.value ?? "");
			setCopied(true);
		} catch {
			input.current?.select();
			setCopied(document.execCommand("copy"));
		}
	};

	return (
		<div
			class="made"
			role="group"
			aria-label="Shared link"
			onKeyDown={(event) => event.key === "Escape" && close()}
		>
			{"fault" in sharing ? (
				<p role="alert">It was not shared: {sharing.fault}.</p>
			) : (
				<>
					<p role="status">Whoever has this link sees this profile as it is now, also when its samples are gone.</p>
					<div class="row">
						<input ref={input} readOnly value={sharing.link} aria-label="Link" />
						<button type="button" class="primary" onClick={copy}>
							{copied ? "Copied" : "Copy"}
						</button>
					</div>
				</>
			)}
			<button type="button" onClick={close}>
				Close
			</button>
		</div>
	);
}
