# SPDX-License-Identifier: Apache-2.0
"""What can be said of compose.yaml and the Dockerfile without an engine."""
import re

import pytest

from local.servers import ROOT

FILES = ("compose.yaml", "compose.agent.yaml", "compose.old-engine.yaml",
         "deploy/compose/agent.yaml")
VARIABLE = re.compile(r"\$\{(DECIMA_\w+)(?::?-((?:[^${}]|\$\{[^}]*\})*))?")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def used():
    """{variable: its defaults in the files of one host's fleet}."""
    found = {}
    for name in ("compose.yaml", "deploy/compose/agent.yaml"):
        for variable, default in VARIABLE.findall(text(name)):
            found.setdefault(variable, set()).add(default)
            for inner, its in VARIABLE.findall(default):
                found.setdefault(inner, set()).add(its)
    return found


def test_every_setting_is_in_the_example_with_the_default_that_holds():
    example = dict(re.findall(r"^#(DECIMA_\w+)=(.*)$", text(".env.example"), re.MULTILINE))
    found = used()

    assert set(example) == set(found)
    wrong = {name: (given, found[name]) for name, given in example.items()
             if name != "DECIMA_HOST" and found[name] != {given}}
    assert not wrong


def test_no_secret_has_a_default_and_no_port_is_open_to_all():
    found = used()

    assert found["DECIMA_POSTGRES_PASSWORD"] == found["DECIMA_UPLOAD_TOKEN"] == {""}
    ports = re.findall(r'"([^"\s]+:\d+)"\]?$', text("compose.yaml"), re.MULTILINE)
    assert len(ports) == 3
    assert all(port.startswith("${DECIMA_BIND:-127.0.0.1}:") for port in ports), ports


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_privileged(name):
    assert "privileged" not in re.sub(r"#.*|no-new-privileges", "", text(name)).lower()


def test_images_of_others_are_of_one_version():
    images = re.findall(r"^\s*image: (\S+)$", text("compose.yaml"), re.MULTILINE)
    images += re.findall(r"^FROM (\S+)", text("Dockerfile"), re.MULTILINE)
    others = {i for i in images if not i.startswith("decima-") and i != "service"}

    assert others == {"postgres:15", "redis:7", "apache/kafka:4.1.0", "haproxy:2.6",
                      "debian:bookworm-slim", "node:18-bookworm-slim"}


def test_any_builder_builds_the_images():
    dockerfile = text("Dockerfile")

    assert not re.search(r"^# *syntax *=|<<|--mount|--chmod|--link|--start-interval", dockerfile,
                         re.MULTILINE)
