# SPDX-License-Identifier: Apache-2.0
"""What the pages in Markdown point to is there, and what they say of metrics and settings is so."""
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
    """Where links into the page may point, as GitHub names its headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in HEADING.findall(text)}


def links(page):
    return LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page):
    dead = []
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            dead.append(link)
        elif anchor and anchor not in anchors(target):
            dead.append(f"{link}: there is no such heading")
    assert not dead


def told(page):
    """The metrics that a page of docs/ names, and what a histogram has beside its name."""
    names = set(METRIC.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    return names | {f"{name}_{part}" for name in names for part in ("bucket", "count", "sum")}


@pytest.mark.parametrize("page", [ALERTS, ROOT / "docs" / "operations.md"], ids=lambda p: p.name)
def test_metrics_that_are_spoken_of_are_those_that_programs_have(page):
    assert set(METRIC.findall(page.read_text(encoding="utf-8"))) <= told("metrics.md")


def test_settings_that_operations_speaks_of_are_there():
    there = set(re.findall(r"`(--[a-z-]+)`",
                           (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")))
    spoken = set(re.findall(r"`(--[a-z][a-z-]+)",
                            (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")))
    assert spoken <= there | {"--healthcheck", "--help"}


def test_each_alert_is_in_operations_and_the_other_way_round():
    named = set(re.findall(r"alert: (\w+)", ALERTS.read_text(encoding="utf-8")))
    spoken = set(re.findall(r"`(Decima\w+)`",
                            (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")))
    assert named == spoken and len(named) > 10


@pytest.mark.parametrize("what", [["check", "rules", "alerts.yml"],
                                  ["test", "rules", "alerts_test.yml"]], ids=lambda w: w[0])
def test_promtool_finds_the_alerts_in_order(what):
    assert shutil.which("promtool"), "there is no promtool: run tools/deps.sh"
    done = subprocess.run(["promtool", *what], cwd=ALERTS.parent, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
