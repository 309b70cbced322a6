# SPDX-License-Identifier: Apache-2.0
"""Several symbolizers that share results in Redis."""
import signal
import threading
import types

import pytest

from harness import metrics, wait_until
from symbolizer_service import OUTER, ask, fleet, function, program, start, upload, works


def shared(service):
    return int(metrics(service)['decima_symbolizer_binaries_total{source="shared"}'])


@pytest.fixture
def replicas(fleet, start, program):
    """Two symbolizers on one debuginfo service and one Redis, and a program that is uploaded."""
    if not fleet.redis.alive():
        fleet.redis.launch()
    fleet.redis.wait_ready(fleet.redis.ready)
    debuginfo, small = start("debuginfo"), program()
    upload(debuginfo, small.id, small.debug)
    made = [start("symbolizer", debuginfod_urls=debuginfo.url, redis=fleet.redis.address())
            for _ in range(2)]
    return *made, small


def put_in_redis(service):
    return int(metrics(service)['decima_symbolizer_redis_put_total{outcome="put"}'])


def test_a_replica_uses_the_results_of_another_without_a_build(replicas):
    one, other, small = replicas
    places = [small.outer, 1, small.outer + 1]
    first = ask(one, small.id, *places)
    wait_until(lambda: put_in_redis(one) >= 3, what="the results in Redis")

    assert ask(other, small.id, *places) == first
    assert shared(other) == 1 and works(other) == {} and works(one) == {"built": 1}
    assert ask(other, small.id, small.outer + 2)["locations"][0]["lines"]
    assert works(other) == {"built": 1}  # that address was not requested before


def test_concurrent_replicas_build_one_file_once(replicas):
    one, other, small = replicas
    results = []
    clients = [threading.Thread(target=lambda s=s: results.append(ask(s, small.id, small.outer)))
              for s in (one, other) * 10]

    for client in clients:
        client.start()
    for client in clients:
        client.join()

    assert all(result == results[0] for result in results)
    assert sum(works(s).get("built", 0) for s in (one, other)) == 1


def test_all_replicas_use_a_better_file_even_with_warm_caches(replicas, program):
    one, other, _ = replicas
    late = program(1)
    debuginfo = types.SimpleNamespace(url=one.flags["debuginfod-urls"])
    upload(debuginfo, late.id, late.symbols, "?rank=symtab")
    plain = ask(one, late.id, late.outer)
    wait_until(lambda: put_in_redis(one) >= 3, what="the result in Redis")
    assert ask(other, late.id, late.outer) == plain and shared(other) == 1
    assert plain["locations"][0]["lines"][-1]["line"] == 0

    generation = upload(debuginfo, late.id, late.debug)

    for service in (one, other):
        better = wait_until(lambda s=service: (result := ask(s, late.id, late.outer))["generation"]
                            == generation and result, what="functions of the better file")
        assert better["locations"][0]["lines"][-1]["line"] in (8, 9, 10)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_without_redis_addresses_are_still_symbolized(fleet, replicas, program, number):
    one, other, small = replicas
    ask(one, small.id, small.outer)
    wait_until(lambda: put_in_redis(one) >= 1, what="a result in Redis")

    fleet.redis.send(number)
    try:
        assert function(other, small.id, small.outer) == OUTER
        assert function(one, small.id, small.outer) == OUTER
        assert works(other) == {"built": 1}
        assert metrics(other)['decima_symbolizer_redis_lookups_total{outcome="failed"}'] == 1
    finally:
        fleet.redis.send(signal.SIGCONT)
    wait_until(fleet.redis.launch if number == signal.SIGKILL else fleet.redis.ready, what="Redis")
    fleet.redis.wait_ready(fleet.redis.ready)
    before = put_in_redis(other)
    addresses = iter(range(small.outer, small.outer + 10_000))
    wait_until(lambda: ask(other, small.id, next(addresses)) and put_in_redis(other) > before,
               what="Redis is used again")
