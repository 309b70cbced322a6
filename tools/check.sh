#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fast gate before a commit: form, layers, lint, and unit tests with both compilers.
#
# Every check runs, whatever became of the others, and says what to do when it is red.
# shellcheck disable=SC2317  # functions are called by name, through check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
tools/deps.sh || exit 1
red=0

# check NAME WHAT_TO_DO COMMAND...: a line when it holds; its output and the advice when not
check() {
	local name=$1 advice=$2 began=$SECONDS out
	shift 2
	if out=$("$@" 2>&1); then
		printf 'ok    %s (%d s)\n' "$name" $((SECONDS - began))
	else
		printf '%s\nRED   %s\n      %s\n' "$out" "$name" "$advice"
		red=$((red + 1))
	fi
}

in_c() { git ls-files -z '*.c' '*.h' | xargs -0 clang-format-14 --dry-run --Werror; }
in_python() { git ls-files -z '*.py' | xargs -0 /usr/bin/python3 tools/python_form.py; }
in_shell() { git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck; }
build_with() { # build_with COMPILER DIRECTORY
	[ -f "$2/build.ninja" ] || CC=$1 meson setup "$2" -Doptimization=1 || return 1
	ninja -C "$2"
}
unit_with() { build_with "$1" "$2" && meson test -C "$2" --no-rebuild --print-errorlogs; }

check "format" "run \`make format\` and look at what changed" in_c
check "layers" "a lower layer must not know a higher one: the table in tools/layers.py says who may \
use whom" tools/layers.py
check "banned functions" "each line says what to use instead" tools/banned.py
check "licences" "run \`tools/spdx.py --write\` and look at what it wrote" tools/spdx.py
check "shell" "fix what shellcheck names; \`shellcheck -x FILE\` shows one file" in_shell
check "python" "fix the lines named" in_python
check "unit tests, gcc" "run one by hand: build-gcc/tests/NAME_test" unit_with gcc build-gcc
check "unit tests, clang" "run one by hand: build-clang/tests/NAME_test" unit_with clang-14 build-clang
check "links" "a service needs a library that its place in the design forbids" tools/layers.py build-gcc
check "generated docs" "run \`tools/docs.py build-gcc --write\` and commit what it wrote" \
	tools/docs.py build-gcc
check "clang-tidy" "simplify what it names; a false alarm gets NOLINT(check): reason" \
	tools/tidy.py build-clang

if [ $red -eq 0 ]; then
	echo "all is well ($SECONDS s)"
else
	echo "$red of the checks are red ($SECONDS s)"
fi
exit $((red > 0))
