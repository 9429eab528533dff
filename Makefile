# The user's way in. Everything runs in .venv, made on first use from the exact versions in requirements.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OUT ?= generated
JOBS ?= 2

.PHONY: generate check bump diff verify test lint wheels conformance bench lock help clean
.DEFAULT_GOAL := generate

$(READY): requirements.lock pyproject.toml
	@echo "setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e ./generated
	@touch $@

generate: $(READY) ## write the bindings
	@$(BIN)/mcp-bindgen generate --out $(OUT)

check: $(READY) ## fail if the bindings on disk are not what would be generated
	@$(BIN)/mcp-bindgen check --out $(OUT)

bump: $(READY) ## take a new revision of the schema: REVISION=2026-07-28 [SOURCE=path-or-url | REF=commit]
	$(if $(REVISION),,$(error name the revision, e.g. make bump REVISION=2026-07-28))
	@$(BIN)/mcp-bindgen bump $(REVISION) $(if $(SOURCE),--source '$(SOURCE)') $(if $(REF),--ref '$(REF)')
	@$(BIN)/mcp-bindgen generate --out $(OUT)

diff: $(READY) ## tell what changed between two revisions: FROM=2025-11-25 TO=2026-07-28
	$(if $(and $(FROM),$(TO)),,$(error name the revisions, e.g. make diff FROM=2025-11-25 TO=2026-07-28))
	@$(BIN)/mcp-bindgen diff $(FROM) $(TO) || test $$? -eq 1

verify: $(READY) ## compare the model with a second reading of the schemas
	@$(BIN)/mcp-bindgen verify

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -n $(JOBS)

lint: $(READY) ## style and strict types, for generator, tests and generated code
	@$(BIN)/ruff check generator tests
	@$(BIN)/black --check --quiet generator tests templates/runtime
	@$(BIN)/mypy generator/mcp_bindgen
	@$(BIN)/mypy generated/mcp_bindings
	@$(BIN)/basedpyright --level error

wheels: $(READY) ## build both wheels, install them elsewhere, generate there, compare byte for byte
	@$(BIN)/python -m tests.wheels

conformance: $(READY) ## run the official conformance suite, and the official Inspector, on server and client
	@$(BIN)/python -m tests.conformance

bench: $(READY) ## measure against the peers, in one run
	@$(BIN)/python -m tests.bench

lock: $(READY) ## renew requirements.lock from pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@echo '# The exact toolchain, for development and CI. Renew it with `make lock`.' > requirements.lock.new
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --quiet --no-header \
		--no-emit-index-url >> requirements.lock.new
	@mv requirements.lock.new requirements.lock

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile | expand -t 14

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
