# The entry point. Each target is one line; the work is done in tools/ and by meson.build.
PYTHON ?= /usr/bin/python3
ROUNDS ?= 20
SECONDS ?= 60
MINUTES ?= 60

.PHONY: up down clean test test-chaos test-truth test-kernels test-long coverage fuzz check format build bench-otlp bench-ingest bench-symbols bench-query bench-names bench-unwind-tables bench-web bench-agent bench-store bench-days bench-labels test-compose
up: ; @tools/deps.sh && $(PYTHON) tools/stack.py up
down: ; @$(PYTHON) tools/stack.py down
clean: ; @$(PYTHON) tools/stack.py clean
test: ; @tools/deps.sh && $(PYTHON) tools/test.py
coverage: ; @tools/deps.sh && $(PYTHON) tools/coverage.py
test-chaos: build ; @$(PYTHON) -m pytest -sx -p no:cacheprovider tests/chaos --rounds=$(ROUNDS) $(if $(SEED),--seed=$(SEED))
test-truth: build ; @$(PYTHON) -m pytest -q -p no:cacheprovider tests/integration/test_truth.py --truth-minutes=$(MINUTES) $(if $(SEED),--truth-seed=$(SEED))
test-compose: build ; @$(PYTHON) -m pytest -v -p no:cacheprovider tests/compose
test-kernels: ; @tools/deps.sh && tools/deps.sh kernels && $(MAKE) -s build && tests/kernel/fetch.sh build/kernels && $(PYTHON) -m pytest -q -p no:cacheprovider tests/kernel
test-long: ; @tools/deps.sh && $(PYTHON) tools/test.py --long
fuzz: ; @tools/deps.sh && $(PYTHON) tools/fuzz.py --seconds=$(SECONDS)
check: ; @tools/check.sh
format: ; @git ls-files '*.c' '*.h' | xargs clang-format-14 -i
bench-otlp: build ; @ninja -C build tests/otlp_bench >/dev/null && build/tests/otlp_bench
bench-ingest: build ; @$(PYTHON) tests/bench/bench_ingest.py
bench-query: build ; @$(PYTHON) tests/bench/bench_query.py
bench-symbols: build ; @ninja -C build tests/symbol_bench >/dev/null && $(PYTHON) tests/bench/bench_symbols.py
bench-unwind-tables: build ; @ninja -C build tests/unwind_bench >/dev/null && build/tests/unwind_bench
bench-store: build ; @$(PYTHON) tests/bench/bench_store.py
bench-days: build ; @$(PYTHON) tests/bench/bench_days.py
bench-labels: build ; @$(PYTHON) tests/bench/bench_labels.py
bench-names: build ; @ninja -C build tests/symbolize_bench >/dev/null && build/tests/symbolize_bench
bench-web: build ; @$(PYTHON) tests/bench/bench_web.py
bench-agent: build ; @$(PYTHON) tests/bench/bench_agent.py --together $(FLAGS)
build: ; @test -f build/build.ninja || meson setup build >/dev/null; ninja -C build
