// SPDX-License-Identifier: Apache-2.0
/** trace - finds in a trace of Chromium the frames that were drawn after each user action. Pure. */

const MS = 1000; // times of a trace are microseconds
const STILL = 60; // milliseconds without a frame: the animation has ended

/**
 * For each mark of that name (performance.mark, at the time of the event), in milliseconds: `response`,
 * the time until the next frame, or null if no frame was drawn; `intervals`, the times between the
 * frames after it; `work`, the CPU time of the main thread for each frame.
 */
export function actionsOf(trace, name) {
	const events = [...trace.traceEvents].sort((a, b) => a.ts - b.ts);
	const marks = events.filter((event) => event.name === name && event.cat.includes("blink.user_timing"));
	const pid = marks[0]?.pid;
	const main = events.find((event) => event.name === "thread_name" && event.pid === pid && event.args.name === "CrRendererMain")?.tid;
	const frames = events.filter((event) => event.name === "DrawFrame" && event.pid === pid).map((event) => event.ts);
	const tasks = events.filter((event) => event.pid === pid && event.tid === main && isTask(event));
	return marks.map((mark, i) => {
		const ends = marks[i + 1]?.ts ?? Number.POSITIVE_INFINITY;
		return actionOf(mark.ts, frames.filter((at) => at > mark.ts && at < ends), tasks);
	});
}

function isTask(event) {
	return event.ph === "X" && event.name === "ThreadControllerImpl::RunTask";
}

function actionOf(began, frames, tasks) {
	const action = { response: null, intervals: [], work: [] };
	let before = began;
	for (const at of frames) {
		if (action.response !== null && at - before > MS * STILL && !worked(tasks, before, at)) break;
		if (action.response === null) action.response = (at - began) / MS;
		else action.intervals.push((at - before) / MS);
		action.work.push(sum(tasks, before, at) / MS);
		before = at;
	}
	return action;
}

/** True if the thread was busy for more than half of the time: then a frame was late, rather than not needed. */
function worked(tasks, from, to) {
	return sum(tasks, from, to) > (to - from) / 2;
}

/** The CPU time of the tasks that began in that time. */
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
