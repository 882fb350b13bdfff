# SPDX-License-Identifier: Apache-2.0
#
# Each of these works on a fresh machine: what is missing is installed first.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
UNLATCH := build/native/cli/unlatch

# Where clang 19 cannot be had, everything but the simulated machine is built.
LAB_BOOTSTRAP := scripts/bootstrap lab || [ $$? -eq 3 ]

.PHONY: demo test test-long bench install format lint clean

# LevelDB stock against unlatch and two structure studies in small, then a report of them.
demo:
	scripts/bootstrap build
	cmake --preset program --log-level=WARNING
	cmake --build --preset program --parallel $(JOBS) \
	  --target unlatch_cli leveldb_db_bench_stock leveldb_db_bench_unlatch
	rm -rf build/demo
	$(UNLATCH) study leveldb --quick --threads 1,2,4 --out build/demo
	$(UNLATCH) study hash_map --quick --threads 1,2,4 --out build/demo
	$(UNLATCH) study red_black_tree --quick --threads 1,2,4 --out build/demo
	$(UNLATCH) report build/demo -o report.html
	@printf '\nThe report is %s/report.html\n' "$(CURDIR)"

# The same for a simulated machine with transactions; building it takes longer than the demo, which
# comes first.
.PHONY: demo-lab
demo-lab: demo
	scripts/bootstrap lab
	cmake --preset lab -DUNLATCH_BUILD_TESTS=OFF --log-level=WARNING
	cmake --build --preset lab --parallel $(JOBS) \
	  --target unlatch_lab_program leveldb_db_bench_stock leveldb_db_bench_unlatch \
	    leveldb_db_bench_elided
	$(UNLATCH) study leveldb --on i7-4770 --quick --case fillrandom --mode unlatch,elided \
	  --threads 1,4,8 --out build/demo-lab
	$(UNLATCH) study hash_map --on i7-4770 --quick --threads 1,4,8 --out build/demo-lab
	$(UNLATCH) report build/demo-lab -o report-lab.html

# Every test, natively, under the address, undefined-behaviour and thread sanitizers, and in the
# simulated machine.
test:
	scripts/bootstrap test
	$(LAB_BOOTSTRAP)
	JOBS=$(JOBS) scripts/run-tests

# The same and the tests labelled long.
test-long:
	scripts/bootstrap test mariadb
	$(LAB_BOOTSTRAP)
	JOBS=$(JOBS) scripts/run-tests --long

# unlatch beside other libraries and LevelDB beside itself, at full length, then a report.
bench:
	scripts/bootstrap bench
	$(LAB_BOOTSTRAP)
	cmake --preset bench --log-level=WARNING
	cmake --build --preset bench --parallel $(JOBS)
	if command -v clang++-19 >/dev/null; then cmake --preset lab --log-level=WARNING && \
	  cmake --build --preset lab --parallel $(JOBS) --target lab_speed_simulated; fi
	bench/run build/native build/bench
	$(UNLATCH) study leveldb --out build/bench
	$(UNLATCH) report build/bench -o build/bench/report.html

install:
	scripts/bootstrap build
	cmake --preset program --log-level=WARNING
	cmake --build --preset program --parallel $(JOBS)
	cmake --install build/native --prefix $(PREFIX)

format:
	scripts/sources | xargs clang-format -i

# In a build tree of its own, where each source has its command: there are no unities.
lint:
	scripts/bootstrap test
	scripts/sources | xargs clang-format --dry-run -Werror
	cmake --preset native -B build/lint -DCMAKE_UNITY_BUILD=OFF --log-level=WARNING
	cmake --build build/lint --target unlatch_build_id
	scripts/sources '*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/lint

clean:
	rm -rf build report.html report-lab.html
