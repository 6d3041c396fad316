# dpsco_verify: `make audit` and `make test` set everything up on a fresh machine by themselves.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROFILE ?= standard
SEED ?= 0
OUT ?= reports/latest
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
WORKERS ?= $(JOBS)
SAMPLE ?= 40
ARGS ?=

# Without compiled files each process, of which the tests start hundreds, would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Freed memory stays with the process: to hand it back and ask for it anew takes a thirtieth of the tests' processor time.
PYTEST := env MALLOC_TOP_PAD_=67108864 MALLOC_TRIM_THRESHOLD_=536870912 MALLOC_MMAP_THRESHOLD_=536870912 \
  $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
STAMP_RUN := $(VENV)/.run-installed
STAMP_TEST := $(VENV)/.test-installed
STAMP_DOCS := $(VENV)/.docs-installed
STAMP_MUTATE := $(VENV)/.mutate-installed

.PHONY: help setup audit test test-fast test-long test-processors test-lowest explore lint format docs new-statement bench mutate reference lock clean

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile
	@printf '\n  PROFILE=quick|standard|deep  SEED=0  OUT=reports/latest  JOBS=%s  ARGS="--select single-step"\n' "$(JOBS)"

setup: $(STAMP_RUN) ## Make .venv with what running needs (does nothing when up to date)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "PYTHON=$(PYTHON) is too old: Python 3.11 or later is needed; pass PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "making $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)

$(STAMP_RUN): requirements/run.txt pyproject.toml | $(VENV)/bin/python
	@echo "installing what running needs (pinned by hash)" >&2
	@$(PIP_INSTALL) --require-hashes --requirement requirements/run.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@echo "compiling the kernel" >&2
	@$(BIN)/python -m dpsco_verify.algorithm
	@touch $@

$(STAMP_TEST): requirements/test.txt $(STAMP_RUN)
	@echo "installing what testing needs (pinned by hash)" >&2
	@$(PIP_INSTALL) --require-hashes --requirement requirements/test.txt
	@touch $@

$(STAMP_DOCS): requirements/docs.txt $(STAMP_TEST)
	@echo "installing what building the documentation needs (pinned by hash)" >&2
	@$(PIP_INSTALL) --require-hashes --requirement requirements/docs.txt
	@touch $@

$(STAMP_MUTATE): requirements/mutate.txt $(STAMP_TEST)
	@echo "installing what mutation testing needs (pinned by hash)" >&2
	@$(PIP_INSTALL) --require-hashes --requirement requirements/mutate.txt
	@touch $@

audit: $(STAMP_RUN) ## Verify the paper and write the reports to OUT
	@$(BIN)/dpsco-verify audit --profile $(PROFILE) --seed $(SEED) --out $(OUT) --jobs $(JOBS) $(ARGS)

test: $(STAMP_TEST) ## Run the test suite
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(PYTEST) -m "not long" $(ARGS)

test-fast: $(STAMP_TEST) ## Run the everyday part of the suite: the tests of some 20 ms at most
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-dev} $(PYTEST) -m "not slow and not long" $(ARGS)

# It adds to `make test` the larger sizes of what runs there at a smaller one, and at random examples of the properties.
test-long: $(STAMP_TEST) ## Run what is for a night: long calibrations, more kills, more examples of each property
	@export HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-long}; run=($(PYTEST) -o faulthandler_timeout=7200 $(ARGS)); \
	status=0; "$${run[@]}" -m long || status=$$?; "$${run[@]}" -m "not long" tests/property || status=$$?; exit $$status

test-processors: $(STAMP_TEST) ## Run what computes at each level of processor features, and with functions that err (for a night)
	@export HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci}; \
	run=($(PYTEST) -m "not long" --ignore=tests/cli $(ARGS)); \
	status=0; $(BIN)/python -m dpsco_verify.processor "$${run[@]}" || status=$$?; \
	echo "functions that err by a unit in the last place" >&2; \
	DPSCO_TEST_WOBBLY_FUNCTIONS=1 "$${run[@]}" || status=$$?; exit $$status

# Both at once are as far from where `make test` runs as one run can be.
test-lowest: $(STAMP_TEST) ## Run the everyday part at the lowest level of processor features, with functions that err
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} DPSCO_TEST_WOBBLY_FUNCTIONS=1 $(BIN)/python -m dpsco_verify.processor --lowest \
	$(PYTEST) -m "not slow and not long" tests/unit tests/property $(ARGS)

explore: $(STAMP_TEST) ## Run the property tests at random with 10,000 examples each (long)
	@HYPOTHESIS_PROFILE=explore $(PYTEST) tests/property $(ARGS)

lint: $(STAMP_TEST) ## Check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports --no-logo

format: $(STAMP_TEST) ## Rewrite the code in the house format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP_DOCS) ## Build the documentation and the manual page; a link that leads nowhere is an error
	@$(BIN)/sphinx-build --fail-on-warning --fresh-env --quiet -c docs -b html . docs/_build/html
	@$(BIN)/sphinx-build --fail-on-warning --quiet -c docs -b man -d docs/_build/html/.doctrees . docs/_build/man
	@$(BIN)/python -m pytest --quiet docs/test_site.py
	@echo "docs/_build/html/index.html and docs/_build/man/dpsco-verify.1" >&2

new-statement: $(STAMP_TEST) ## Make the files of a statement: PAPER=dwork2014 NAME=my-lemma
	@$(BIN)/python tools/new_statement.py "$(PAPER)" "$(NAME)"
	@$(BIN)/ruff check --quiet --fix --select I dpsco_verify/papers/$(PAPER)/paper.py
	@$(BIN)/ruff format --quiet dpsco_verify/papers/$(PAPER)

bench: $(STAMP_TEST) ## Measure speed as ratios within one run; the figures also go to benchmarks/results/latest.json
	@$(BIN)/python -m benchmarks --json benchmarks/results/latest.json $(ARGS)

mutate: $(STAMP_MUTATE) ## Change the code in SAMPLE single places, and see which changes no test notices (hours; run again to go on)
	@$(BIN)/python -m mutation --seed $(SEED) --sample $(SAMPLE) --out $(if $(filter file,$(origin OUT)),reports/mutation,$(OUT)) $(ARGS)

reference: $(STAMP_RUN) ## Renew reports/reference from the standard profile (`make audit` makes the rest of it)
	@$(BIN)/dpsco-verify audit --profile standard --seed 0 --out reports/reference --no-store --jobs $(JOBS) --format markdown --format brief

lock: $(STAMP_TEST) ## Compile the pinned requirement files anew
	@$(BIN)/pip-compile $(LOCK_OPTIONS) --extra strategies --output-file requirements/run.txt requirements/build.in pyproject.toml
	@$(BIN)/pip-compile $(LOCK_OPTIONS) --extra test --extra strategies --constraint requirements/run.txt \
	  --output-file requirements/test.txt requirements/build.in pyproject.toml
	@$(BIN)/pip-compile $(LOCK_OPTIONS) --extra docs --constraint requirements/test.txt \
	  --output-file requirements/docs.txt requirements/build.in pyproject.toml
	@$(BIN)/pip-compile $(LOCK_OPTIONS) --constraint requirements/test.txt --output-file requirements/mutate.txt requirements/mutate.in

# No index address, option or path of the machine that compiled may end up in the files.
LOCK_OPTIONS := --quiet --upgrade --generate-hashes --strip-extras --allow-unsafe --no-header \
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links

clean: ## Remove the environment and all caches
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
