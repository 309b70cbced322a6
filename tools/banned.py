#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail where a C file calls a banned function, or where a text uses a word that was retired.

Both tables say what to use instead. Retired words are those of docs/glossary.md that have no plain
meaning in this project: a reader had to learn them. They are looked for in comments, in strings, in
identifiers and in documents; in docs/glossary.md alone they may stand.
"""
import pathlib
import re
import subprocess
import sys

INSTEAD = {
    "strcpy": "a str, or str_z()", "strcat": "a buf", "sprintf": "str_format() or snprintf()",
    "vsprintf": "vsnprintf()", "strtok": "str_cut()", "gets": "fgets()",
    "atoi": "str_to_i64()", "atol": "str_to_i64()", "strtol": "str_to_i64()",
    "strtoul": "str_to_u64()", "strtoll": "str_to_i64()", "strtoull": "str_to_u64()",
    "strtod": "a parser of the format", "rand": "getrandom()", "alloca": "an arena",
}
CALL = re.compile(rf"(?<![\w.>])({'|'.join(INSTEAD)})\s*\(")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)

# a regular expression of the retired word -> the term instead. A word also counts as a part of an
# identifier: between underscores, digits or other characters that are no letters.
RETIRED = {
    r"crews?": "worker pool",
    r"keepers?": "maintenance",
    r"janitors?": "terminate stuck writers",
    r"tells?|telling|told|untold": "report, tell apart: distinguish",
    r"wish(?:es|ed)?": "request, cancellation token",
    r"nobody|whoever|somebody|anybody|everybody": "name the caller, the client, the process",
    r"speaks? of": "references",
    r"so many|so much|so long as": "name the number, the limit, the condition",
    r"as (?:it|they) came": "raw",
    r"lets? go|letting go": "release, evict, unload",
    r"second go": "retry",
    r"culprits?": "poison message",
    r"tellers?": "row source",
    r"stretch(?:es)?": "address range",
    r"travel(?:s|led|ling)?": "deferred to user space, stack copy",
    r"tally|tallies": "counters",
    r"detours?": "seek override",
    r"restless": "recently remapped",
    r"rubbish": "malformed, garbage",
    r"strangers?": "untrusted input, third party",
    r"spoil(?:s|ed|t)?": "corrupt",
    r"how.?manieth": "sequence number",
    r"chassis": "server",
    r"side[_ -]band": "sideband",
    r"none but": "only",
    r"giv(?:es?|en|ing) back": "return, release",
    r"hears?|heard": "receive, subscribe",
    r"refusals?": "error response, rejection",
    r"resting": "grace period, quarantine",
    r"outlets?": "sink",
    r"makes? no sense": "malformed, undefined",
    r"namers?": "symbolizer, symbol cache",
    r"questions?": "request, query, path",
}
RETIRED_WORD = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(RETIRED)})(?![A-Za-z])", re.IGNORECASE)
# Where the words are looked for, and the files in which they may stand.
LANGUAGE = ("lib", "services", "bpf", "proto", "docs", "deploy", "README.md", "ARCHITECTURE.md",
            "CONTRIBUTING.md", "compose*.yaml", "Dockerfile", "Makefile", ".env.example")
MAY_STAND = ("docs/glossary.md", "bpf/LICENSE", "services/querier/web/src/style.css",
             "services/querier/web/package-lock.json")
ROOT = pathlib.Path(__file__).resolve().parents[1]


def blank(match):
    """The same lines with nothing on them, so that the numbers stay true."""
    return "\n" * match[0].count("\n")


def files_of(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split("\n")
    return [name for name in listed if name and (ROOT / name).is_file()]


def retired_words(line):
    """The retired words of a line, each with the term to use instead."""
    for match in RETIRED_WORD.finditer(line):
        word = match[0]
        yield word, next(term for pattern, term in RETIRED.items()
                         if re.fullmatch(pattern, word, re.IGNORECASE))


def check_calls():
    for name in files_of("*.c", "*.h"):
        code = COMMENT_OR_TEXT.sub(blank, (ROOT / name).read_text())
        for number, line in enumerate(code.splitlines(), 1):
            for match in CALL.finditer(line):
                yield f"{name}:{number}: {match[1]}() is banned; use {INSTEAD[match[1]]}"


def check_words():
    for name in files_of(*LANGUAGE):
        if name.startswith(MAY_STAND):
            continue
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue  # a picture
        for number, line in enumerate(text.splitlines(), 1):
            for word, term in retired_words(line):
                yield f"{name}:{number}: \"{word}\" is a retired word; write: {term}"


def main():
    wrong = [*check_calls(), *check_words()]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
