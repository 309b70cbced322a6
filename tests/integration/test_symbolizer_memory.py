# SPDX-License-Identifier: Apache-2.0
"""After a burst of large requests the symbolizer returns the memory to the system."""
import json
import threading

from harness import wait_until
from symbolizer_service import (  # fleet: a fixture that start() uses
    OUTER, fleet, function, post, program, start, upload)
from test_garbage import MB, resident

CLIENTS, ADDRESSES, KEPT = 16, 60_000, 60 * MB


def test_the_memory_of_a_burst_is_returned(start, program, figure):
    debuginfo, small = start("debuginfo"), program()
    upload(debuginfo, small.id, small.debug)
    symbolizer = start("symbolizer", debuginfod_urls=debuginfo.url)
    wait_until(lambda: function(symbolizer, small.id, small.outer) == OUTER, what="the table")
    body = json.dumps({"requests": [{"build_id": small.id,
                                     "addresses": [small.outer + i % 8 for i in range(ADDRESSES)]}]
                       }).encode()
    idle = resident(symbolizer.pid())
    statuses = []
    clients = [threading.Thread(target=lambda: statuses.append(post(symbolizer, body)[0]))
               for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert statuses == [200] * CLIENTS
    peak = resident(symbolizer.pid(), "VmHWM")
    assert peak > idle + 2 * KEPT  # a smaller burst would show nothing
    try:
        wait_until(lambda: resident(symbolizer.pid()) < idle + KEPT, 20, "the memory is returned")
    finally:
        figure(f"{CLIENTS} requests of {ADDRESSES} addresses: resident {idle / MB:.0f} MB before, "
               f"{peak / MB:.0f} at most, {resident(symbolizer.pid()) / MB:.0f} afterwards")
