# SPDX-License-Identifier: Apache-2.0
"""unwind_oracle - a file's unwind information by readelf and llvm-dwarfdump, in our rows' format.

A row is (address, rule). A rule is what unwind_check prints: kind of CFA, its register, offset,
second offset, how and where the frame pointer is saved, how and where the return address is saved.
"""
import re
import subprocess

(CFA_NONE, CFA_REGISTER, CFA_DEREF, CFA_PLT, CFA_SIGNAL, CFA_FRAME_POINTER,
 CFA_UNSUPPORTED) = range(7)
SAME, AT_CFA, UNDEFINED, REGISTER, AT_FRAME_POINTER, UNSUPPORTED = range(6)
NONE = (CFA_NONE, 0, 0, 0, 0, 0, 0, 0)
UNREADABLE = (CFA_UNSUPPORTED, 0, 0, 0, 0, 0, 0, 0)
ROOT = (CFA_REGISTER, 7, 8, 0, SAME, 0, UNDEFINED, 0)
LAZY = (CFA_PLT, 0, 11, 0, SAME, 0, AT_CFA, -8)
SIGNAL = (CFA_SIGNAL, 0, 0, 0, 0, 0, 0, 0)
BRIDGED = 15

X86_64 = ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split(), 6, 7, False)
ARM64 = ([f"x{n}" for n in range(31)] + ["sp"], 29, 31, True)
FDE = re.compile(r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) "
                 r"pc=([0-9a-f]+)\.{2,3}([0-9a-f]+)")
CIE = re.compile(r'([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE "([^"]*)"')
EXPRESSION_ROW = re.compile(r"  0x([0-9a-f]+): CFA=(.*DW_OP.*)")
BREG = r"DW_OP_breg(\d+) \w+([+-]\d+)"
PLT = re.compile(r"DW_OP_breg7 RSP\+8, DW_OP_breg16 RIP\+0, DW_OP_lit15, DW_OP_and, "
                 r"DW_OP_lit(\d+), DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus")
DEREF = re.compile(BREG + r", DW_OP_deref(?:, DW_OP_plus_uconst (0x[0-9a-f]+))?")


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True,
                          text=True, errors="replace").stdout


def expressions_of(path, section):
    """The rows that readelf prints as "exp": (entry, address) -> the row of llvm-dwarfdump."""
    found, entry, last = {}, None, None
    for line in run("llvm-dwarfdump-14", f"--{section}", path).splitlines():
        if match := FDE.match(line):
            entry, last = int(match[1], 16), None
        elif match := EXPRESSION_ROW.match(line):
            cfa, places = re.fullmatch(r"(.*?)(: \w+=.*)?", match[2]).groups()
            # llvm-dwarfdump 14 does not restore the CFA after DW_CFA_restore_state.
            last = cfa if "DW_OP" in cfa else last
            found[entry, int(match[1], 16)] = (last, places or "")
    return found


def cfa_of_expression(text):
    if match := PLT.fullmatch(text):
        return (CFA_PLT, 0, int(match[1]), 0)
    if match := DEREF.fullmatch(text):
        return (CFA_DEREF, int(match[1]), int(match[2]), int(match[3] or "0", 16))
    if match := re.fullmatch(BREG, text):
        return (CFA_REGISTER, int(match[1]), int(match[2]), 0)
    return None


class Reader:
    """Converts the rows of readelf's tables into our rows."""

    def __init__(self, path, section, machine):
        self.names, self.frame_pointer, self.stack_pointer, self.links = machine
        self.expressions = expressions_of(path, section)
        self.signals = set()

    def number(self, name):
        if name in self.names:
            return self.names.index(name)
        return int(name[1:])  # r17, as DWARF numbers it

    def place(self, text, key, name, cfa):
        """(how a register is saved, where)"""
        if text in ("u", "s", None):
            return (SAME, 0)
        if text.startswith("c"):
            offset = int(text[1:])
            return (AT_CFA, offset) if -2**15 <= offset < 2**15 else (UNSUPPORTED, 0)
        if text == "exp":
            match = re.search(rf"\b{name.upper()}=\[{BREG}\]", self.expressions[key][1])
            if match and cfa[:2] == (CFA_REGISTER, int(match[1])):
                return (AT_CFA, int(match[2]) - cfa[2])
            if match and int(match[1]) == self.frame_pointer:
                return (AT_FRAME_POINTER, int(match[2]))
            return (UNSUPPORTED, 0)
        if text.startswith("v"):
            return (UNSUPPORTED, 0)
        return (REGISTER, self.number(text))

    def rule(self, key, columns, cells):
        values = dict(zip(columns, cells))
        if values["CFA"] == "exp":
            cfa = cfa_of_expression(self.expressions[key][0])
        else:
            match = re.fullmatch(r"(\w+)([+-]\d+)", values["CFA"])
            cfa = (CFA_REGISTER, self.number(match[1]), int(match[2]), 0)
        if cfa is None:
            return UNREADABLE
        pointer = self.names[self.frame_pointer]
        frame = self.place(values.get(pointer), key, pointer, cfa)
        back = self.place(values.get("ra"), key, "RIP", cfa)
        if values.get("ra") == "u" and not self.links:
            back = (UNDEFINED, 0)
        return self.stack(values.get(self.names[self.stack_pointer]), cfa, frame, back)

    def stack(self, text, cfa, frame, back):
        """The rule, also if the caller's stack pointer differs from the CFA."""
        if text in ("u", "s", None):
            return (*cfa, *frame, *back)
        if re.fullmatch(r"r\d+", text) and AT_CFA not in (frame[0], back[0]):
            return (CFA_REGISTER, self.number(text), 0, 0, *frame, *back)
        return UNREADABLE


def functions_of(path, section="eh-frame", machine=X86_64):
    """[(start, end, [(address, rule)])], in the order of the file."""
    reader = Reader(path, section, machine)
    found, commons, entry, columns = [], {}, None, []
    dumped = run("readelf", "--debug-dump=frames-interp,no-follow-links", path)
    for line in dumped.splitlines():
        if line.startswith("Contents of"):
            wanted = section.replace("-", "_") in line
        elif not wanted:
            continue
        elif match := FDE.match(line):
            entry = int(match[1], 16)
            start, end = int(match[3], 16), int(match[4], 16)
            common = commons[int(match[2], 16)]
            found.append((start, end, [(start, common["rule"])]))
        elif match := CIE.match(line):
            common = commons[int(match[1], 16)] = {"signal": "S" in match[2], "rule": UNREADABLE}
            entry = None
        elif line.startswith("   LOC"):
            columns = line.split()[1:]
        elif re.match(r"[0-9a-f]{16} ", line):
            address, *cells = re.sub(r"(r\d+) \(\w+\)", r"\1", line).split()
            address = int(address, 16)
            rule = SIGNAL if common["signal"] else reader.rule((entry, address), columns, cells)
            if entry is None:
                common["rule"] = rule
            else:
                found[-1][2].append((address, rule))
    return found


def saved_places(path, section):
    """Where each function saves each register: start -> {register: the texts of its rows}."""
    found, columns = {}, []
    for line in run("readelf", "--debug-dump=frames-interp,no-follow-links", path).splitlines():
        if line.startswith("Contents of"):
            wanted = section.replace("-", "_") in line
        elif match := FDE.match(line):
            places = {}
            if wanted:
                found[int(match[3], 16)] = places
        elif CIE.match(line):
            places = {}
        elif line.startswith("   LOC"):
            columns = line.split()[1:]
        elif re.match(r"[0-9a-f]{16} ", line):
            cells = re.sub(r"(r\d+) \(\w+\)", r"\1", line).split()[1:]
            for name, text in zip(columns, cells):
                places.setdefault(name, set()).add(text)
    return found


def with_calls(path, functions, section="eh-frame", machine=X86_64):
    """The functions, with the rows at calls of a function that finds its frame by a register that
    the called function saves: disassembled by objdump."""
    if machine is not X86_64:
        return functions
    places, found = saved_places(path, section), []
    for start, end, rows in functions:
        more = []
        for (address, rule), (after, _) in zip(rows, rows[1:] + [(end, None)]):
            if rule[0] != CFA_REGISTER or rule[1] not in (3, 12, 13, 14, 15):
                continue
            name = machine[0][rule[1]]
            code = run("objdump", "-d", "--no-show-raw-insn", f"--start-address={address}",
                       f"--stop-address={after}", path)
            for call in re.finditer(r"^ *([0-9a-f]+):\tcall +([0-9a-f]+)\b", code, re.MULTILINE):
                saved = places.get(int(call[2], 16), {}).get(name, set()) - {"u", "s"}
                if len(saved) == 1 and (at := re.fullmatch(r"c(-\d+)", *saved)):
                    begin = int(call[1], 16)
                    more.append((begin + 1, (CFA_DEREF, 7, int(at[1]), rule[2], *rule[4:])))
                    if begin + 5 < after:
                        more.append((begin + 5, rule))
        found.append((start, end, sorted(rows + more, key=lambda row: row[0])))
    return found


def filled(path, functions, machine=X86_64):
    """The functions, and rules for code without an FDE: PLT stubs, the first instructions."""
    links = machine[3]
    found = re.search(r" \.plt +PROGBITS +(\w+) \w+ (\w+)", run("readelf", "-SW", path))
    places = [(int(run("readelf", "-h", path).split("Entry point address:")[1].split()[0], 16), 32,
               ROOT if not links else (CFA_REGISTER, 31, 0, 0, SAME, 0, SAME, 0))]
    if found:
        head = 32 if links else 16
        places.append((int(found[1], 16) + head, int(found[2], 16) - head,
                       (CFA_REGISTER, 31, 0, 0, SAME, 0, SAME, 0) if links else LAZY))
    more = [(start, start + size, [(start, rule)]) for start, size, rule in places
            if start and size > 0 and not any(f[0] <= start < f[1] for f in functions)]
    return functions + more


def rows_of(functions):
    """All rows of a file in the form of our table: sorted, padding bridged, no repeated rules."""
    rows, last_end = [], None
    functions = sorted((f for f in functions if f[1] > f[0]), key=lambda f: f[0])
    functions = [f for i, f in enumerate(functions) if i == 0 or functions[i - 1][0] != f[0]]
    for i, (start, end, own) in enumerate(functions):
        if i + 1 < len(functions):
            end = min(end, functions[i + 1][0])
        if last_end is not None and start - last_end > BRIDGED:
            rows.append((last_end, NONE))
        rows.extend(row for row in own if row[0] < end)
        last_end = end
    merged = []
    for address, rule in rows:
        if merged and merged[-1][0] == address:
            merged.pop()
        if not merged or merged[-1][1] != rule:
            merged.append((address, rule))
    return merged, last_end


def table_rows(check, table, machine=X86_64):
    """(the rows of our table, the address of its end)"""
    rows = []
    for line in run(check, "rows", table).splitlines():
        address, *rule = line.split()
        if rule == ["end"]:
            return rows, int(address, 16)
        rule = tuple(int(part) for part in rule)
        if rule[4] == UNDEFINED:  # the register is not saved
            rule = (*rule[:4], SAME, *rule[5:])
        if machine == ARM64 and rule[6] == UNDEFINED:  # treat it as in the link register
            rule = (*rule[:6], SAME, 0)
        if not rows or rows[-1][1] != rule:
            rows.append((int(address, 16), rule))
    raise AssertionError("the table's end is missing")
