# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: tests/browser/page.test.mjs in Debian's Chromium, on the real pipeline.

Each claim of that file is a test here. DECIMA_SHOTS=DIRECTORY keeps its screenshots: docs/img has
some of them, `DECIMA_SHOTS=docs/img pytest tests/integration/test_page.py` writes them anew.
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
CLAIM = re.compile(r'^(?:claim|picture)\("([^"]+)"', re.MULTILINE)
LINE = re.compile(r"^(ok|not ok) \d+ - (.+?)(?: # .*)?$")
MINUTES = 6  # of all claims together, on a busy machine

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
    """{claim: (it held, what was said)}."""
    now = int(time.time() * 1000)
    for sequence, (comm, stacks, node) in enumerate((
            ("checkout", CHECKOUT, "web-1"), ("search", SEARCH, "web-2"),
            ("proxy", PROXY, "web-1")), 1):
        cell.produce(page_message(protos, comm, stacks, node=node, at_ms=now, apart_ms=2_000),
                     key=f"{node}/{comm}".encode(),
                     headers=headers(1, sequence, agent_status(protos, node, stacks)))
    earlier = now - 3 * 3_600_000  # for pictures alone: before what the claims look at
    cell.produce_all([(message, {"key": b"shop/host"})
                      for message in shop_messages(protos, earlier)])
    shop = {"start": earlier / 1000 - 7200, "end": earlier / 1000}
    # Values of labels are known to the day: those of now may be among them.
    wait_until(lambda: {"edge", "postgres", "shop"} <= set(
        cell.data("label/service_name/values", **shop)), what="the shop")
    wait_until(lambda: cell.total("{}") == TICKS * PERIOD, what="the page's profile")
    npm.install(BROWSER)
    shots = Path(os.environ.get("DECIMA_SHOTS", tmp_path_factory.mktemp("shots")))
    return run(cell, "page.test.mjs", DECIMA_NOW=str(now // 1000),
               DECIMA_SHOTS=str(shots.absolute()))


def run(cell, file, **environment):
    """{claim: (it held, what was said)} of a file of claims."""
    done = subprocess.run(
        ["node", "--test-reporter=tap", file], cwd=BROWSER, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        errors="replace", timeout=MINUTES * 60,
        env=os.environ | {"DECIMA_URL": cell.querier.url} | environment)
    found, said = {}, []
    for line in done.stdout.splitlines():
        verdict = LINE.match(line)
        if verdict:  # what it says of a failure follows it
            said = []
            found[verdict[2]] = (verdict[1] == "ok", said)
        said.append(line)
    assert found, done.stdout[-3000:]
    return found


def agent_status(protos, node, stacks):
    """What the agent of that host says: three samples of its rings were lost."""
    batch = sum(ticks for _, ticks in stacks)
    said = protos.status.AgentStatus(node=node.encode(), version=b"0.1.0", taken=batch + 3,
                                     batch_samples=batch, time_unix_nano=time.time_ns())
    said.lost.add(reason=b"ring_full", samples=3)
    said.truncated.add(reason=b"user_too_deep", samples=12)
    return said.SerializeToString()


def claims():
    return CLAIM.findall((BROWSER / "page.test.mjs").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", claims())
def test_page(outcome, name):
    held, said = outcome.get(name, (False, ["it was not run"]))

    assert held, "\n".join(said)


def test_links_open_in_a_new_browser_when_their_partitions_are_dropped(outcome, cell):
    """Last here: it drops what the claims ask for."""
    assert outcome
    now = time.time()
    hour = {"start": now - 3600, "end": now}
    sides = {"a": {"query": '{node="web-1"}', **hour}, "b": {"query": '{node="web-2"}', **hour}}
    links = [share(cell.querier, **wish)["url"] for wish in ({"query": "{}", **hour}, sides)]
    cell.ingester.kill()
    with cell.connect() as db:
        for (name,) in cell.rows(PARTITIONS):
            db.execute(f"DROP TABLE {name}")
    assert cell.total("{}", **hour) == 0

    found = run(cell, "shared.test.mjs", DECIMA_LINKS=" ".join(links))

    assert len(found) == len(CLAIM.findall((BROWSER / "shared.test.mjs").read_text("utf-8")))
    assert all(held for held, _ in found.values()), found


def test_there_is_a_browser_to_try_the_page_with():
    assert shutil.which("chromium"), "run tools/deps.sh"
    assert claims()
