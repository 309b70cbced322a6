#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fast checks before a commit: format, layers, lint, and unit tests with both compilers: clang with ASan.
#
# All checks run, even if some fail; a failed check prints what to do.
# shellcheck disable=SC2317  # functions are called by name, through check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
tools/deps.sh || exit 1
red=0

# check NAME ADVICE COMMAND...: prints a line; if it fails, its output and the advice
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
build_with() { # build_with COMPILER DIRECTORY OPTION...
	local compiler=$1 where=$2
	shift 2
	[ -f "$where/build.ninja" ] || CC=$compiler meson setup "$where" "$@" || return 1
	ninja -C "$where"
}
unit_with() { build_with "$@" && meson test -C "$2" --no-rebuild --print-errorlogs --timeout-multiplier 10; }

check "format" "run \`make format\` and look at what changed" in_c
check "layers" "a lower layer must not use a higher one: see the table in tools/layers.py" tools/layers.py
check "banned functions" "each line names the replacement" tools/banned.py
check "licences" "run \`tools/spdx.py --write\` and look at the result" tools/spdx.py
check "shell" "fix the lines that shellcheck names; \`shellcheck -x FILE\` shows one file" in_shell
check "python" "fix the lines named" in_python
check "unit tests, gcc" "run one by hand: build-gcc/tests/NAME_test" unit_with gcc build-gcc -Doptimization=1
# with optimization: it makes other frames and lines than what `make test` runs under gcc's ASan
check "unit tests, clang and ASan" "run one by hand: build-clang-asan/tests/NAME_test" \
	unit_with clang-14 build-clang-asan -Db_sanitize=address,undefined -Db_lundef=false
check "links" "a service links a library that tools/layers.py forbids" tools/layers.py build-gcc
check "generated docs" "run \`tools/docs.py build-gcc --write\` and commit the result" \
	tools/docs.py build-gcc
check "clang-tidy" "fix the lines named; for a false positive add NOLINT(check): reason" \
	tools/tidy.py build-clang-asan

if [ $red -eq 0 ]; then
	echo "all is well ($SECONDS s)"
else
	echo "$red of the checks are red ($SECONDS s)"
fi
exit $((red > 0))
