// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { Signal } from "../src/state/signal";

describe("a signal", () => {
	it("calls its followers with each changed value until they leave", () => {
		const signal = new Signal(1);
		const received: number[] = [];
		const leave = signal.follow((value) => received.push(value));

		signal.set(2);
		signal.set(2);
		signal.set(3);
		leave();
		signal.set(4);

		expect(received).toEqual([2, 3]);
		expect(signal.value).toBe(4);
	});
});
