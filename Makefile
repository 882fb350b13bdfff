# SPDX-License-Identifier: Apache-2.0
#
# Each of these works on a fresh machine: what is missing is installed first.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
DEMO := build/demo

.PHONY: demo test test-long bench install format lint clean

# LevelDB stock against unlatch and two structure studies, then a report of them.
demo: program
	rm -rf $(DEMO)
	build/native/cli/unlatch study leveldb --threads 1,2 --repeat 3 --out $(DEMO)
	build/native/cli/unlatch study hash_map --threads 1,2 --repeat 3 --out $(DEMO)
	build/native/cli/unlatch study red_black_tree --threads 1,2 --repeat 3 --out $(DEMO)
	build/native/cli/unlatch report $(DEMO) -o report.html
	@printf '\nThe report is %s/report.html\n' "$(CURDIR)"

.PHONY: program
program:
	scripts/bootstrap build
	cmake --preset program
	cmake --build --preset program --parallel $(JOBS)

# Every test, natively and under the address, undefined-behaviour and thread sanitizers.
test:
	scripts/bootstrap test
	JOBS=$(JOBS) scripts/run-tests

# The same and the tests that take minutes each.
test-long:
	scripts/bootstrap test
	JOBS=$(JOBS) scripts/run-tests --long

# unlatch beside the libraries that do the same, in one run each.
bench:
	scripts/bootstrap bench
	cmake --preset bench
	cmake --build --preset bench --parallel $(JOBS)
	scripts/run-benchmarks build/native/bench build/bench

install: program
	cmake --install build/native --prefix $(PREFIX)

format:
	scripts/sources | xargs clang-format -i

lint:
	scripts/bootstrap test
	cmake --preset native
	scripts/sources | xargs clang-format --dry-run -Werror
	scripts/sources '*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/native

clean:
	rm -rf build report.html
