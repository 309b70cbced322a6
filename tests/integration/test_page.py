# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: tests/browser/page.test.mjs in Debian's Chromium, on the real pipeline.

Each pageTest and screenshot of that file is a test here. DECIMA_SHOTS=DIRECTORY keeps the
screenshots. docs/img has some of them: update them with
`DECIMA_SHOTS=docs/img pytest tests/integration/test_page.py`.
"""
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from harness import ROOT, wait_until
from local import npm
from otlp_messages import PERIOD, headers
from page_messages import page_message, shop_messages
from test_share import PARTITIONS, share

BROWSER = ROOT / "tests" / "browser"
BROWSER_TEST = re.compile(r'^(?:pageTest|screenshot)\("([^"]+)"', re.MULTILINE)
LINE = re.compile(r"^(ok|not ok) \d+ - (.+?)(?: # .*)?$")
MINUTES = 30  # for all browser tests together: detects a hang, also on a busy machine

RUN = ("runtime.main", "runtime/proc.go")
SERVE = ("net/http.(*conn).serve", "net/http/server.go")
LONG = ("std::_Rb_tree<std::basic_string<char, std::char_traits<char>, std::allocator<char>>, "
        "std::pair<std::basic_string<char> const, decima::Order>, std::less<void>>::find", "map.h")
CHECKOUT = [
    ((RUN, SERVE, ("main.(*Cart).Total", "cart.go"), ("encoding/json.Marshal", "json.go")), 240),
    ((RUN, SERVE, ("main.(*Cart).Total", "cart.go")), 90),
    ((RUN, SERVE, ("main.checkStock", "stock.go"), ("database/sql.(*DB).Query", "sql.go")), 150),
    ((RUN, ("runtime.gcBgMarkWorker", "runtime/mgc.go")), 60),
]
SEARCH = [
    (("main", ("decima::Index::lookup", "index.cc"), LONG), 130),
    (("main", ("decima::Index::lookup", "index.cc"), ("memcmp", "memcmp.S")), 45),
    (("main", ("decima::rank", "rank.cc")), 80),
]
PROXY = [((0x4010, 0x5020, 0x60a8), 70), ((0x4010, 0x5020), 30), ((0x4010, 0x7001), 25)]
TICKS = sum(ticks for stacks in (CHECKOUT, SEARCH, PROXY) for _, ticks in stacks)


@pytest.fixture(scope="module")
def outcome(cell, protos, tmp_path_factory):
    """{name of the browser test: (passed, output)}."""
    now = int(time.time() * 1000)
    for sequence, (comm, stacks, node) in enumerate((
            ("checkout", CHECKOUT, "web-1"), ("search", SEARCH, "web-2"),
            ("proxy", PROXY, "web-1")), 1):
        cell.produce(page_message(protos, comm, stacks, node=node, at_ms=now, apart_ms=2_000),
                     key=f"{node}/{comm}".encode(),
                     headers=headers(1, sequence, agent_status(protos, node, stacks)))
    earlier = now - 3 * 3_600_000  # for screenshots only: before the time range of the tests
    cell.produce_all([(message, {"key": b"shop/host"})
                      for message in shop_messages(protos, earlier)])
    shop = {"start": earlier / 1000 - 7200, "end": earlier / 1000}
    # Label values are recorded per day: the result may also have values of today.
    wait_until(lambda: {"edge", "postgres", "shop"} <= set(
        cell.data("label/service_name/values", **shop)), what="the shop")
    wait_until(lambda: cell.total("{}") == TICKS * PERIOD, what="the page's profile")
    npm.install(BROWSER)
    shots = Path(os.environ.get("DECIMA_SHOTS", tmp_path_factory.mktemp("shots")))
    return run(cell, "page.test.mjs", DECIMA_NOW=str(now // 1000),
               DECIMA_SHOTS=str(shots.absolute()))


def run(cell, file, **environment):
    """Run a file of browser tests: {name: (passed, output)}."""
    done = subprocess.run(
        ["node", "--test-reporter=tap", file], cwd=BROWSER, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        errors="replace", timeout=MINUTES * 60,
        env=os.environ | {"DECIMA_URL": cell.querier.url} | environment)
    found, output = {}, []
    for line in done.stdout.splitlines():
        verdict = LINE.match(line)
        if verdict:  # the output of a failure follows its line
            output = []
            found[verdict[2]] = (verdict[1] == "ok", output)
        output.append(line)
    assert found, done.stdout[-3000:]
    return found


def agent_status(protos, node, stacks):
    """The status of that host's agent: it lost three samples in its ring buffers."""
    batch = sum(ticks for _, ticks in stacks)
    status = protos.status.AgentStatus(node=node.encode(), version=b"0.1.0", sampled=batch + 3,
                                     batch_samples=batch, time_unix_nano=time.time_ns())
    status.lost.add(reason=b"ring_full", samples=3)
    status.truncated.add(reason=b"user_too_deep", samples=12)
    return status.SerializeToString()


def browser_tests():
    return BROWSER_TEST.findall((BROWSER / "page.test.mjs").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", browser_tests())
def test_page(outcome, name):
    passed, output = outcome.get(name, (False, ["it was not run"]))

    assert passed, "\n".join(output)


def test_links_open_in_a_new_browser_when_their_partitions_are_dropped(outcome, cell):
    """The last test here: it drops the samples that the browser tests query."""
    assert outcome
    now = time.time()
    hour = {"start": now - 3600, "end": now}
    sides = {"a": {"query": '{node="web-1"}', **hour}, "b": {"query": '{node="web-2"}', **hour}}
    links = [share(cell.querier, **request)["url"] for request in ({"query": "{}", **hour}, sides)]
    cell.ingester.kill()
    with cell.connect() as db:
        for (name,) in cell.rows(PARTITIONS):
            db.execute(f"DROP TABLE {name}")
    assert cell.total("{}", **hour) == 0

    found = run(cell, "shared.test.mjs", DECIMA_LINKS=" ".join(links))

    assert len(found) == len(BROWSER_TEST.findall((BROWSER / "shared.test.mjs").read_text("utf-8")))
    assert all(passed for passed, _ in found.values()), found


def test_a_browser_is_installed():
    assert shutil.which("chromium"), "run tools/deps.sh"
    assert browser_tests()
