# `make demo` shows the product, `make test` checks it; both set up what they need. Written for GNU make 3.81 and later.

VENV := .venv
BIN := $(VENV)/bin
TOOLS := build/tools

# The newest Python that the tests run on, or PYTHON=… of your choice.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	$$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

PYTEST_WORKERS ?= auto
PYTEST_ARGS ?=

GO_BUILD := CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off go build -trimpath -ldflags "-s -w"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## Environment

.PHONY: setup
setup: $(VENV)/.installed ## Make .venv: the locked dependencies, and this tree as editable packages

$(VENV)/.made:
	@python='$(PYTHON)'; \
	$${python:-false} -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "pyopscaffold needs Python 3.11 or newer with venv; found: $$($${python:-python3} --version 2>&1)." >&2; \
		echo "Install one (Debian: apt install python3-venv), or name it: make setup PYTHON=/path/to/python3.12" >&2; \
		exit 2; }; \
	echo "$$python -m venv $(VENV)"; $$python -m venv $(VENV)
	@touch $@

$(VENV)/.locked: requirements/dev.txt $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.locked pyproject.toml hatch_build.py runtime/pyproject.toml runtime/hatch_build.py pyopscaffold/__init__.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e runtime -e .
	@touch $@

.PHONY: tools
tools: setup $(TOOLS)/helm $(TOOLS)/controller-gen $(TOOLS)/kubebuilder $(TOOLS)/grammar $(TOOLS)/sarif-schema-2.1.0.json ## Have what the tests run: a simulated cluster, helm, controller-gen, kubebuilder
	$(BIN)/pyopscaffold envtest setup --simulated

$(TOOLS)/helm $(TOOLS)/controller-gen $(TOOLS)/kubebuilder: tests/tools/go.mod tests/tools/go.sum
	@command -v go >/dev/null || { echo "The tests need Go, to build $(@F): https://go.dev/dl" >&2; exit 2; }
	@mkdir -p $(TOOLS)
	cd tests/tools && $(GO_BUILD) -o ../../$@ $$(go list tool | grep -E '/$(@F)(/v[0-9]+)?$$')

# The schema of OASIS as a module of Go brings it along: the proxies that serve modules are the ones there anyway.
SARIF_FROM := github.com/securego/gosec/v2@v2.30.0
$(TOOLS)/sarif-schema-2.1.0.json: Makefile
	@command -v go >/dev/null || { echo "The tests need Go, to fetch $(@F): https://go.dev/dl" >&2; exit 2; }
	@mkdir -p $(TOOLS)
	cp "$$(cd tests/tools && go mod download -json $(SARIF_FROM) | awk -F'"' '/"Dir"/ {print $$4}')/report/sarif/testdata/$(@F)" $@ && chmod u+w $@

GRAMMAR := tests/oracle/testdata/grammar

$(TOOLS)/grammar: $(wildcard $(GRAMMAR)/*)
	@command -v go >/dev/null || { echo "The tests need Go, to build $(@F): https://go.dev/dl" >&2; exit 2; }
	@mkdir -p $(TOOLS)
	cd $(GRAMMAR) && $(GO_BUILD) -o $(abspath $@) .

.PHONY: lock
lock: setup ## Write requirements/dev.txt anew from pyproject.toml (LOCK_ARGS=--upgrade moves everything)
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-package pyopscaffold-runtime --no-annotate \
		--custom-compile-command 'make lock' --quiet --output-file requirements/dev.txt $(LOCK_ARGS)

## Checks

.PHONY: test
test: setup ## Check everything: lint, types, layers and all tests
	@$(MAKE) --no-print-directory -j2 lint-and-typecheck tools
	$(BIN)/pytest -n $(PYTEST_WORKERS) --maxprocesses 8 --dist loadgroup $(PYTEST_ARGS)

.PHONY: test-older
test-older: tools ## Run the tests of the API server on the older minors of Kubernetes that we name
	@for version in $$($(BIN)/python -c 'from pyopscaffold.testing.binaries.versions import PINNED; print(*PINNED[1:])'); do \
		$(BIN)/pyopscaffold envtest setup --version $$version && \
		$(BIN)/pytest -n $(PYTEST_WORKERS) --maxprocesses 8 --dist loadgroup -o envtest_version=$$version tests/cluster $(PYTEST_ARGS) || exit; \
	done

.PHONY: lint-and-typecheck
lint-and-typecheck: lint typecheck

.PHONY: lint
lint: setup ## Check style, formatting and layers
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/lint-imports --no-cache

.PHONY: fmt
fmt: setup ## Format the code and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: typecheck
typecheck: setup ## Check types with mypy, strictly
	$(BIN)/mypy pyopscaffold hatch_build.py tests benchmarks scripts examples/demo.py examples/remake.py

.PHONY: bench
bench: tools ## Measure; writes benchmarks/RESULTS.md (two hours, on an idle machine)
	$(BIN)/python benchmarks/run.py

## Product

.PHONY: demo
demo: setup ## See it work: from an empty folder to a reconciling operator on a simulated cluster
	$(BIN)/python examples/demo.py

.PHONY: examples
examples: setup ## Make examples/ anew with today's templates; what was edited by hand stays
	$(BIN)/python examples/remake.py

.PHONY: docs
docs: setup ## Write docs/markers.md and docs/lint-rules.md anew from the code
	$(BIN)/python -m scripts.markers
	$(BIN)/python -m scripts.lint_rules

.PHONY: kubernetes-types
kubernetes-types: setup ## Make pyopscaffold/k8s anew from what the pinned Kubernetes publishes
	$(BIN)/python -m scripts.kubernetes_types

.PHONY: dist
dist: setup ## Build both wheels and sdists into dist/
	@rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist runtime
	$(BIN)/python -m build --no-isolation --outdir dist .

.PHONY: clean
clean: ## Remove what make made, but the control plane cached for the user
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
