# SPDX-License-Identifier: Apache-2.0
"""Share links: a frozen share is the result of `query` at the time of sharing, for every reader.

A querier with a symbolizer makes the shares; a querier without a symbolizer opens them.
"""
import gzip
import json
import time
import urllib.error
import urllib.parse
import urllib.request

import psycopg
import pytest

from harness import metrics, wait_until
from named_querier import OF_ALPHA, Named, filled  # filled: a fixture that named() uses
from otlp_messages import PERIOD, cpu_message

PARTITIONS = ("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent IN"
              " ('chunk_raw'::regclass, 'chunk'::regclass, 'series'::regclass,"
              " 'label_pair'::regclass)")
REPORTS = ("collapsed", "flamegraph", "table")


@pytest.fixture(scope="module")
def window():
    now = int(time.time())
    return {"start": now - 600, "end": now + 600}


@pytest.fixture(scope="module")
def named(filled, protos):
    """The querier that makes shares; `filled.querier` opens them without a symbolizer."""
    with Named(filled, protos, "sharing") as made:
        yield made


class Straight(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def open_url(url, body=None, kind="application/json"):
    """(status, headers, body) without following redirects."""
    request = urllib.request.Request(url, data=body, headers={"Content-Type": kind})
    try:
        response = urllib.request.build_opener(Straight).open(request, timeout=180)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, response.read()


def post(querier, kind="application/json", **fields):
    status, _, body = open_url(f"{querier.url}/api/v1/share", json.dumps(fields).encode(), kind)
    return status, json.loads(body)


def share(querier, **fields):
    status, response = post(querier, **fields)
    assert status == 200, response
    return response["data"]


def of_pprof(protos, body):
    """{(stack of (function, file, line, address), labels): value}."""
    profile = protos.pprof.Profile()
    profile.ParseFromString(gzip.decompress(body))
    text = profile.string_table
    functions = {f.id: f for f in profile.function}
    locations = {}
    for location in profile.location:
        lines = tuple((text[functions[line.function_id].name],
                       text[functions[line.function_id].filename], line.line)
                      for line in location.line)
        locations[location.id] = (location.address, lines)
    found = {}
    for sample in profile.sample:
        key = (tuple(locations[i] for i in sample.location_id),
               tuple((text[label.key], text[label.str], label.num) for label in sample.label))
        found[key] = found.get(key, 0) + sample.value[0]
    return found, profile.period, profile.time_nanos, profile.duration_nanos


def results(querier, protos, **params):
    """The result of each report, without its statistics."""
    found = {}
    for report in (*REPORTS, "pprof"):
        query = urllib.parse.urlencode(params | {"report": report})
        status, _, body = open_url(f"{querier.url}/api/v1/query?{query}")
        assert status == 200, body
        if report == "pprof":
            found[report] = of_pprof(protos, body)
        else:
            found[report] = body if report == "collapsed" else json.loads(body)["data"]
    return found


def error_of(response):
    status, reply = response
    assert reply["status"] == "error", reply
    return status, reply["errorType"], reply["error"]


@pytest.mark.parametrize("query, group_by", [
    ("{}", ""), ('{comm="alpha"}', "comm,pid"), ('{comm="nobody"}', "")])
def test_a_share_is_the_result_in_every_report_without_a_symbolizer(named, protos, window, query,
                                                                    group_by):
    was = results(named.querier, protos, query=query, group_by=group_by, **window)
    made = share(named.querier, query=query, group_by=group_by, **window)

    assert results(named.cell.querier, protos, share=made["id"]) == was


def test_a_share_reports_its_fields(named, window):
    made = share(named.querier, query='{comm="alpha"}', group_by="comm", expires=3600, **window)
    status, _, body = open_url(f"{named.cell.querier.url}/api/v1/share/{made['id']}")

    assert status == 200 and json.loads(body)["data"] == made
    assert made["url"] == f"/s/{made['id']}" and len(made["id"]) == 32
    assert (made["query"], made["group_by"]) == ('{comm="alpha"}', "comm")
    assert (made["start"], made["end"]) == (window["start"], window["end"])
    assert made["frozen"] is True
    assert made["expires"] == pytest.approx(made["created"] + 3600, abs=0.01)


def diff(querier, **params):
    status, _, body = open_url(f"{querier.url}/api/v1/diff?{urllib.parse.urlencode(params)}")
    assert status == 200, body
    return json.loads(body)["data"]


@pytest.mark.parametrize("freeze", [True, False])
def test_a_comparison_is_shared_with_both_sides(named, protos, window, freeze):
    sides = {"a": {"query": '{comm="alpha"}', **window}, "b": {"query": "{}", **window}}
    was = diff(named.querier, group_by="comm", **{
        f"{side}_{name}": value for side, of in sides.items() for name, value in of.items()})
    made = share(named.querier, group_by="comm", expires=60, freeze=freeze, **sides)
    other = named.cell.querier if freeze else named.querier

    assert made["a"] == sides["a"] and made["b"] == sides["b"] and "query" not in made
    assert diff(other, share=made["id"]) == was
    for side, of in sides.items():
        assert results(other, protos, share=made["id"], side=side) == results(
            named.querier, protos, group_by="comm", **of)
    status, headers, _ = open_url(f"{other.url}{made['url']}")
    assert (status, headers["Location"]) == (302, f"../compare?share={made['id']}")


def test_a_comparison_and_a_profile_are_distinguished(named, window):
    of = {"query": "{}", **window}
    one, two = share(named.querier, **of), share(named.querier, a=of, b=of)
    url = f"{named.querier.url}/api/v1"

    for path, words in ((f"query?report=table&share={two['id']}", b"is a comparison"),
                        (f"query?report=table&share={one['id']}&side=a", b"is one profile"),
                        (f"diff?share={one['id']}", b"is one profile"),
                        (f"diff?share={two['id']}&a_query=%7B%7D", b"leave a_query out")):
        status, _, body = open_url(f"{url}/{path}")
        assert status == 400 and words in body, (path, body)


def test_the_link_leads_to_the_page(named, window):
    made = share(named.querier, query="{}", **window)
    status, headers, _ = open_url(f"{named.cell.querier.url}{made['url']}")

    assert (status, headers["Location"]) == (302, f"../?share={made['id']}")
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("bad", ["0" * 32, "0" * 31, "x" * 32, "'", "a/b", "%00", ""])
def test_an_unknown_id_is_404_with_a_sentence(named, bad):
    url = named.cell.querier.url

    for path in (f"/api/v1/query?report=table&share={bad}", f"/api/v1/share/{bad}", f"/s/{bad}"):
        status, _, body = open_url(url + path)
        assert status == 404 and b"no such share" in body, (path, body)


def test_an_expired_share_is_410_and_is_deleted_later(named, window):
    made = share(named.querier, query="{}", expires=3600, **window)
    with named.cell.connect() as db:
        db.execute("UPDATE share SET expires = now() - interval '1 minute' WHERE id = %s",
                   [bytes.fromhex(made["id"])])
    url = named.cell.querier.url

    for path in (f"/api/v1/query?report=table&share={made['id']}",
                 f"/api/v1/share/{made['id']}", made["url"]):
        status, _, body = open_url(url + path)
        assert status == 410 and b"has expired" in body, (path, body)
    with named.cell.connect() as db:
        db.execute("UPDATE share SET expires = now() - interval '25 hours' WHERE id = %s",
                   [bytes.fromhex(made["id"])])
    named.cell.ingester.kill()
    named.cell.start_service(named.cell.ingester)
    wait_until(lambda: not named.cell.rows("SELECT FROM share WHERE id = %s",
                                           bytes.fromhex(made["id"])), what="the share deleted")


@pytest.mark.parametrize("fields, words", [
    ({}, "member query is missing"),
    ({"query": "{"}, "selector, position 2"),
    ({"query": "{}", "group_by": "a,a"}, "names a twice"),
    ({"query": "{}", "expires": "2001-01-01T00:00:00Z"}, "later than now"),
    ({"query": "{}", "colour": "red"}, 'no member "colour"'),
    ({"a": {"query": "{}"}}, "both a and b: b is missing"),
    ({"a": {"query": "{}"}, "b": {"query": "{"}}, "selector, position 2"),
    ({"a": {"query": "{}"}, "b": {"query": "memory:inuse_space:bytes:space:bytes{}"}},
     "only profiles of one type")])
def test_a_malformed_share_request_is_rejected(named, fields, words):
    status, kind, sentence = error_of(post(named.querier, **fields))

    assert (status, kind) == (400, "bad_data") and words in sentence, sentence


def test_a_request_that_is_not_json_cannot_share(named):
    assert error_of(post(named.querier, kind="text/plain", query="{}"))[:2] == (400, "bad_data")


def test_a_body_over_its_limit_is_413(named):
    status, _, _ = open_url(f"{named.querier.url}/api/v1/share", b" " * ((64 << 10) + 1))

    assert status == 413


def test_parameters_that_a_share_fixes_are_rejected(named, window):
    made = share(named.querier, query="{}", **window)
    status, _, body = open_url(
        f"{named.querier.url}/api/v1/query?report=table&share={made['id']}&group_by=comm")

    assert status == 400 and b"leave group_by out" in body


def test_a_share_over_the_limit_of_one_or_of_all_is_rejected(named, window, protos):
    """Random addresses do not compress to a kilobyte."""
    ticks = {(0x10, address * 7919 % (1 << 40)): 1 for address in range(1, 3000)}
    named.cell.produce(cpu_message(protos, "large", ticks, node="n2"))
    wait_until(lambda: named.cell.total('{comm="large"}') == len(ticks) * PERIOD, what="large")
    small = named.cell.service("querier", "small", {"share-max-bytes": "2KB"})
    full = named.cell.service("querier", "full", {"share-total-max-bytes": "1KB"})
    try:
        named.cell.start_service(small)
        named.cell.start_service(full)
        reply = error_of(post(small, query='{comm="large"}', **window))
        assert reply[:2] == (422, "execution") and "--share-max-bytes" in reply[2]
        assert metrics(small)['decima_querier_share_rejections_total{reason="too_big"}'] == 1
        reply = error_of(post(full, query='{comm="large"}', **window))
        assert reply[:2] == (422, "execution") and "--share-total-max-bytes" in reply[2]
        assert metrics(full)['decima_querier_share_rejections_total{reason="full"}'] == 1
        assert share(small, query='{comm="large"}', freeze=False, **window)["frozen"] is False
    finally:
        small.kill()
        full.kill()


def test_with_a_read_only_database_shares_are_rejected_and_queries_work(named, window):
    """A standby rejects writes in the same way."""
    with psycopg.connect(named.cell.postgres_address, autocommit=True) as db:
        db.execute(f"ALTER DATABASE {named.cell.database} SET default_transaction_read_only = on")
    try:
        reply = error_of(post(named.querier, query="{}", **window))
        assert reply[:2] == (503, "unavailable") and "standby" in reply[2]
        assert named.stacks('{comm="alpha"}') == OF_ALPHA
    finally:
        with psycopg.connect(named.cell.postgres_address, autocommit=True,
                             options="-c default_transaction_read_only=off") as db:
            db.execute(f"ALTER DATABASE {named.cell.database} RESET default_transaction_read_only")
    assert share(named.querier, query="{}", **window)


def test_frozen_shares_outlive_the_samples_and_live_shares_do_not(named, protos, window):
    """The last test of this file: it drops the partitions that the other tests read."""
    was = results(named.querier, protos, query='{comm="alpha"}', **window)
    frozen = share(named.querier, query='{comm="alpha"}', **window)
    live = share(named.querier, query='{comm="alpha"}', freeze=False, **window)
    other = named.cell.querier

    status, _, body = open_url(f"{named.querier.url}/api/v1/query?report=collapsed"
                               f"&share={live['id']}")
    assert status == 200 and body == was["collapsed"]
    partitions = named.cell.rows(PARTITIONS)
    named.cell.ingester.kill()
    with named.cell.connect() as db:
        for (name,) in partitions:
            db.execute(f"DROP TABLE {name}")
    assert named.cell.total("{}", **window) == 0
    assert results(other, protos, share=frozen["id"]) == was
    status, _, body = open_url(f"{other.url}/api/v1/query?report=collapsed&share={live['id']}")
    assert (status, body) == (200, b"")
    assert open_url(other.url + frozen["url"])[0] == 302
