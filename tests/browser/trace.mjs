// SPDX-License-Identifier: Apache-2.0
/** trace - what a trace of Chromium says of the pictures that followed what somebody did. Pure. */

const MS = 1000; // a trace counts microseconds
const STILL = 60; // milliseconds without a picture: what moved has come to rest

/**
 * Of each mark of that name (performance.mark, at the moment of the event): `response`, milliseconds
 * until the next picture; `apart`, between those that followed it; `work` of the main thread for
 * each of them, in its own time. Null where nothing was drawn.
 */
export function actsOf(trace, name) {
	const events = [...trace.traceEvents].sort((a, b) => a.ts - b.ts);
	const marks = events.filter((event) => event.name === name && event.cat.includes("blink.user_timing"));
	const pid = marks[0]?.pid;
	const main = events.find((event) => event.name === "thread_name" && event.pid === pid && event.args.name === "CrRendererMain")?.tid;
	const pictures = events.filter((event) => event.name === "DrawFrame" && event.pid === pid).map((event) => event.ts);
	const tasks = events.filter((event) => event.pid === pid && event.tid === main && isTask(event));
	return marks.map((mark, i) => {
		const ends = marks[i + 1]?.ts ?? Number.POSITIVE_INFINITY;
		return actOf(mark.ts, pictures.filter((at) => at > mark.ts && at < ends), tasks);
	});
}

function isTask(event) {
	return event.ph === "X" && event.name === "ThreadControllerImpl::RunTask";
}

function actOf(began, pictures, tasks) {
	const act = { response: null, apart: [], work: [] };
	let before = began;
	for (const at of pictures) {
		if (act.response !== null && at - before > MS * STILL && !worked(tasks, before, at)) break;
		if (act.response === null) act.response = (at - began) / MS;
		else act.apart.push((at - before) / MS);
		act.work.push(sum(tasks, before, at) / MS);
		before = at;
	}
	return act;
}

/** Whether the thread was busy for most of that time: then a picture was late, not wanted by nobody. */
function worked(tasks, from, to) {
	return sum(tasks, from, to) > (to - from) / 2;
}

/** Its tasks that began in that time. */
function sum(tasks, from, to) {
	let [low, high] = [0, tasks.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (tasks[middle].ts < from) low = middle + 1;
		else high = middle;
	}
	let time = 0;
	for (; low < tasks.length && tasks[low].ts < to; low++) time += tasks[low].tdur ?? tasks[low].dur;
	return time;
}
