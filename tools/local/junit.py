# SPDX-License-Identifier: Apache-2.0
"""junit - the results in a report of pytest (--junitxml)."""
import xml.etree.ElementTree as ElementTree


def read(report, counts, failed):
    """Add to the Counter `counts`, and to `failed` the failed tests with their messages. Without
    the report nothing is added: pytest was interrupted."""
    if not report.exists():
        return
    for case in ElementTree.parse(report).iter("testcase"):
        wrong = [child for child in case if child.tag in ("failure", "error")]
        if wrong:
            counts["failed"] += 1
            name = f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"
            failed[name] = wrong[0].get("message", "").partition("\n")[0][:300]
        else:
            counts["passed" if case.find("skipped") is None else "skipped"] += 1
