# SPDX-License-Identifier: Apache-2.0
"""The links of the Markdown pages are valid; the metrics and settings that they mention exist."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / line for line in subprocess.run(
    ["git", "ls-files", "*.md"], cwd=ROOT, check=True, text=True,
    stdout=subprocess.PIPE).stdout.split()]
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
METRIC = re.compile(r"\bdecima_[a-z0-9_]*[a-z0-9]\b")


def anchors(page):
    """The valid anchors of a page: GitHub's names of its headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in HEADING.findall(text)}


def links(page):
    return LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_points_to_an_existing_file_and_heading(page):
    dead = []
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            dead.append(link)
        elif anchor and anchor not in anchors(target):
            dead.append(f"{link}: the page has no such heading")
    assert not dead


def metrics_of(page):
    """The metrics that a page of docs/ names, each also with the suffixes of a histogram."""
    names = set(METRIC.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    return names | {f"{name}_{part}" for name in names for part in ("bucket", "count", "sum")}


@pytest.mark.parametrize("page", [ALERTS, ROOT / "docs" / "operations.md"], ids=lambda p: p.name)
def test_the_metrics_that_a_page_mentions_exist(page):
    assert set(METRIC.findall(page.read_text(encoding="utf-8"))) <= metrics_of("metrics.md")


def test_the_settings_that_operations_mentions_exist():
    existing = set(re.findall(r"`(--[a-z-]+)`",
                              (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")))
    mentioned = set(re.findall(r"`(--[a-z][a-z-]+)",
                               (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")))
    assert mentioned <= existing | {"--healthcheck", "--help"}


def test_operations_has_exactly_the_alerts_of_the_rules():
    named = set(re.findall(r"alert: (\w+)", ALERTS.read_text(encoding="utf-8")))
    mentioned = set(re.findall(r"`(Decima\w+)`",
                               (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")))
    assert named == mentioned and len(named) > 10


def routes():
    """(method, path) of each route of the services: rows of ENDPOINT_ROWS, or struct http_route."""
    listed = subprocess.run(["git", "ls-files", "services/*.[ch]", "lib/server/daemon.c"], cwd=ROOT,
                            check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    for source in listed:
        text = (ROOT / source).read_text(encoding="utf-8")
        yield from re.findall(r'\bROW\(\w+, \w+, "([A-Z]+)", "(/[^"]*)"', text)
        yield from re.findall(r'\.method = "([A-Z]+)",\s*\.path = "(/[^"]*)"', text)


def is_served(request, route):
    """A route's path that ends in `/` includes all paths below it."""
    (method, path), (its_method, its_path) = request, route
    below = len(its_path) > 1 and its_path.endswith("/") and path.startswith(its_path)
    return method == its_method and (path == its_path or below)


def test_the_api_page_describes_each_route_and_no_other():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([A-Z]+) (/[^`?]*)", page))
    described |= {("GET", path) for path in re.findall(r"`(/[^`?]*)`", page)}
    existing = set(routes())
    assert len(existing) > 20
    assert not [route for route in existing if not any(is_served(it, route) for it in described)]
    assert not [it for it in described if not any(is_served(it, route) for route in existing)]


@pytest.mark.parametrize("what", [["check", "rules", "alerts.yml"],
                                  ["test", "rules", "alerts_test.yml"]], ids=lambda w: w[0])
def test_promtool_accepts_the_alerts(what):
    assert shutil.which("promtool"), "there is no promtool: run tools/deps.sh"
    done = subprocess.run(["promtool", *what], cwd=ALERTS.parent, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
