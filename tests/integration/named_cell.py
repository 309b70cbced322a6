# SPDX-License-Identifier: Apache-2.0
"""named_cell - a cell whose agent uploads debug info, and whose querier symbolizes."""
import json
import urllib.error
import urllib.request
from pathlib import Path

from harness import Cell


class NamedCell(Cell):
    """A Cell with a debuginfo service, a symbolizer that uses it, and a querier that uses both."""

    def __init__(self, fleet, name):
        super().__init__(fleet, name)
        made = self.fleet.run_dir
        self.debuginfo = self.service("debuginfo",
                                      flags={"state-directory": made / f"{name}-files"})
        self.symbolizer = self.service("symbolizer", flags={
            "state-directory": made / f"{name}-tables", "debuginfod-urls": self.debuginfo.url,
            "redis": fleet.redis.address()})
        self.querier.flags["symbolizer-url"] = self.symbolizer.url
        self.agent = self.service("agent", flags={
            "profiling-duration": "1s", "debuginfo-url": self.debuginfo.url})

    def start(self):
        for service in (self.ingester, self.debuginfo, self.symbolizer, self.querier, self.agent):
            self.start_service(service)

    def put(self, build_id, file, query):
        """Upload a file; returns the status of the response."""
        url = f"{self.debuginfo.url}/buildid/{build_id}/debuginfo?{query}"
        request = urllib.request.Request(url, Path(file).read_bytes(), method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=180) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def upload(self, build_id, file):
        return self.put(build_id, file, "rank=dwarf")

    def response(self, report, query="{}", **params):
        """A whole response, with its warnings."""
        status, body = self.api("query", query=query, report=report, **params)
        assert status == 200, body[:300]
        return json.loads(body)
