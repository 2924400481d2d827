# Everything in one place; `make help` lists it. BUILD is the build folder, ARGS goes to the program or to ctest.
BUILD ?= build
PREFIX ?= $(HOME)/.local
ARGS ?=
CONFIGURE ?=
RUNS ?= 1000000
TARGETS ?=
# Waiting threads sleep soon instead of spinning: little lost on an idle machine, several times faster on a busy one.
export GOMP_SPINCOUNT ?= 3000

PIDDM := $(BUILD)/cli/piddm
JOBS = $(shell scripts/jobs)
SOURCES = $(shell git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu')

.PHONY: help demo install test test-long fuzz build bench reproduce-smoke format lint check-architecture clean packages configure
.DEFAULT_GOAL := help

help:
	@echo 'make demo     install packages, build the program, run the demonstration into runs/demo'
	@echo 'make install  build the program and the library and install them into PREFIX (~/.local)'
	@echo 'make test     install packages, build everything, run every test and the outside example'
	@echo 'make test-long  what takes too long for every change: 2 million damaged files, kills, races, faults, sanitizers'
	@echo 'make fuzz     RUNS=1000000 inputs for each fuzz target (or TARGETS="toml zip"), 30 minutes; docs/fuzzing.md'
	@echo 'make build    build everything'
	@echo 'make bench    build the program, measure the network on the CPU into results/bench (5 minutes)'
	@echo 'make reproduce-smoke  every table and figure of the paper at its smallest into runs/reproduce (3 minutes)'
	@echo 'make format   format all sources'
	@echo 'make lint     check architecture and formatting, then clang-tidy and cppcheck on changed files (LINT=all: on all)'
	@echo 'make check-architecture  who includes whom, where names live, sizes, columns, docs; then the test of that check'
	@echo 'make clean    remove the build folder'
	@echo 'Variables: BUILD=$(BUILD)  PREFIX=$(PREFIX)  ARGS="options for the program or ctest"  CONFIGURE="options for cmake"'

packages:
	@scripts/install-packages

configure: packages
	@[ -f $(BUILD)/build.ninja ] && [ -z '$(CONFIGURE)' ] || \
	  cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(CONFIGURE) --log-level=WARNING

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)

demo: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target piddm
	@$(PIDDM) demo --out runs/demo $(ARGS)

install: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target piddm
	@cmake --install $(BUILD) --prefix $(PREFIX) > /dev/null
	@echo 'piddm is in $(PREFIX)/bin'
	@case ":$$PATH:" in *:$(PREFIX)/bin:*) ;; *) echo 'add it to your PATH:  export PATH=$(PREFIX)/bin:$$PATH' ;; esac

test: build check-architecture
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS) $(ARGS)
	@scripts/test-consumer $(BUILD)

test-long: build
	@PIDDM_MUTATIONS=2000000 $(BUILD)/tests/data/formats/test_data_formats --gtest_filter='*Mutat*' $(ARGS)
	@PIDDM_MUTATIONS=2000000 $(BUILD)/tests/mutation/test_mutation $(ARGS)
	@PIDDM_BROWSER=1 $(BUILD)/tests/tables/test_tables --gtest_filter='HtmlReport*'
	@PIDDM_FAULTS=all $(BUILD)/tests/faults/test_faults
	@PIDDM_KILLS=1000 $(BUILD)/tests/campaign/test_campaign --gtest_filter='*Kills*'
	@PIDDM_RACES=200 $(BUILD)/tests/campaign/test_campaign --gtest_filter='*Races*:*Replaced*'
	@PIDDM_SIGNALS=25 $(BUILD)/tests/campaign/test_campaign --gtest_filter='*Signals*'
	@python3 tests/scripts/options_sweep.py $(PIDDM)
	@cmake -S . -B $(BUILD)/ungrouped -G Ninja -DCMAKE_BUILD_TYPE=Release -DPIDDM_UNITY=OFF $(CONFIGURE) --log-level=WARNING
	@cmake --build $(BUILD)/ungrouped --parallel $(JOBS)
	@cmake --preset asan $(CONFIGURE) --log-level=WARNING > /dev/null
	@cmake --build --preset asan --parallel $(JOBS)
	@ctest --preset asan --parallel $(JOBS)

fuzz:
	@scripts/install-packages --with-fuzz
	@cmake --preset fuzz --log-level=WARNING > /dev/null
	@cmake --build --preset fuzz --parallel $(JOBS)
	@scripts/fuzz build-fuzz $(RUNS) $(TARGETS)

BENCH = $(PIDDM) bench $(1) --device cpu --json results/bench/$(2)-cpu.json $(ARGS)
bench: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target piddm
	@mkdir -p results/bench
	@$(call BENCH,spectral,spectral)
	@$(call BENCH,fno,fno)
	@$(call BENCH,fno --grid 32 64 --batch 32 --width 16 --modes 12 --lifting 48 --projection 48,fno-small)
	@$(call BENCH,fno --grid 32 64 --batch 32 --width 32 --modes 12 --lifting 48 --projection 48,fno-small32)
	@$(call BENCH,train,train)
	@$(call BENCH,sample,sample)

reproduce-smoke: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target piddm
	@$(PIDDM) reproduce all --scale smoke --out runs/reproduce $(ARGS)

format:
	@scripts/install-packages --with-lint
	@clang-format -i $(SOURCES)

check-architecture: packages
	@scripts/check-architecture
	@python3 tests/scripts/check_architecture_test.py --quiet
	@python3 tests/scripts/group_sources_test.py --quiet

lint: check-architecture configure
	@scripts/install-packages --with-lint
	@clang-format --dry-run --Werror $(SOURCES)
	@scripts/lint $(BUILD) $(LINT)

clean:
	@rm -rf $(BUILD)
