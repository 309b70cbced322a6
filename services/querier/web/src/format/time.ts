// SPDX-License-Identifier: Apache-2.0
/** time - formats and parses points in time, in the browser's time zone. */

/** "14:05:09" on the day of `now`; otherwise with the date, and with the year if it differs. */
export function formatMoment(seconds: number, now: number = Date.now() / 1000): string {
	const [moment, other] = [new Date(seconds * 1000), new Date(now * 1000)];
	const clock = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(":");
	if (other.toDateString() === moment.toDateString()) return clock;
	const day = `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
	return other.getFullYear() === moment.getFullYear() ? `${day} ${clock}` : `${moment.getFullYear()}-${day} ${clock}`;
}

/** "11-21 20:57:42 – 21:57:42": the date appears once if both times are on the same day. */
export function formatSpan(start: number, end: number, now: number = Date.now() / 1000): string {
	const oneDay = new Date(start * 1000).toDateString() === new Date(end * 1000).toDateString();
	return `${formatMoment(start, now)} – ${formatMoment(end, oneDay ? start : now)}`;
}

/** Labels for the ticks of an axis, `interval` seconds apart. The first tick of a new day also has the date. */
export function tickTimes(ticks: number[], interval: number): string[] {
	let day = "";
	return ticks.map((tick) => {
		const moment = new Date(tick * 1000);
		const date = `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
		const clock = [moment.getHours(), moment.getMinutes(), ...(interval < 60 ? [moment.getSeconds()] : [])].map(two).join(":");
		const text = interval >= 86400 ? date : date === day || day === "" ? clock : `${clock}\n${date}`;
		day = date;
		return text;
	});
}

/** "12 s", "5 min", "3 h", "2 d": an age in its greatest unit. */
export function formatAge(seconds: number): string {
	const age = Math.max(0, Math.round(seconds));
	if (age < 90) return `${age} s`;
	if (age < 90 * 60) return `${Math.round(age / 60)} min`;
	if (age < 36 * 3600) return `${Math.round(age / 3600)} h`;
	return `${Math.round(age / 86400)} d`;
}

/** The text for <input type="datetime-local">, which has no time zone. */
export function toLocalInput(seconds: number): string {
	const moment = new Date(seconds * 1000);
	const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
	return `${day}T${[moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(":")}`;
}

export function fromLocalInput(text: string): number | null {
	const seconds = new Date(text).getTime() / 1000;
	return Number.isFinite(seconds) ? seconds : null;
}

function two(part: number): string {
	return String(part).padStart(2, "0");
}
