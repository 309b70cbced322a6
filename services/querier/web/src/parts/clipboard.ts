// SPDX-License-Identifier: Apache-2.0
/** clipboard - copies a text to the clipboard. */

/** Browsers have no Clipboard API over plain HTTP: then document.execCommand() copies from a text field. False: not copied. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyFromField(text);
	}
}

function copyFromField(text: string): boolean {
	const before = document.activeElement;
	const field = document.createElement("textarea");
	field.value = text;
	field.className = "visually-hidden";
	document.body.append(field);
	field.select();
	const copied = document.execCommand("copy");
	field.remove();
	if (before instanceof HTMLElement) before.focus();
	return copied;
}
