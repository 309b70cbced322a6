// SPDX-License-Identifier: Apache-2.0
// Chain - Java: main -> outer -> middle -> deep, compiled by HotSpot, beside its own threads.
//
//     java -XX:+PreserveFramePointer Chain SECONDS    of wall time

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class Chain {
	static volatile long sink;

	static void work() {
		long sum = sink;
		for (int i = 0; i < 20000; i++)
			sum = sum * 1000003 + i;
		sink = sum;
	}

	static void deep(int depth) {
		if (depth == 0)
			work();
		else
			deep(depth - 1);
		sink++;
	}

	static void middle(List<String> names) {
		Collections.sort(names);
		deep(20);
		sink++;
	}

	static void outer() {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < 20; i++)
			names.add("name " + (i * 7) % 20);
		middle(names);
		sink++;
	}

	public static void main(String[] arguments) {
		long until = System.nanoTime() + (long) (1e9 * Double.parseDouble(arguments[0]));
		while (System.nanoTime() < until)
			outer();
	}
}
