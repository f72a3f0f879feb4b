# A clone needs Python 3.11 or newer and nothing else: each target makes the environment it runs in.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Bytecode is kept: without it, each process and each run compiles the modules and the tests again.
unexport PYTHONDONTWRITEBYTECODE

TYPES := $(BIN)/mypy --strict aspenpy
# Tests are left out: they misspell on purpose.
PROSE := README.md CHANGELOG.md CONTRIBUTING.md aspenpy benchmarks docs editors grammar models
SUITE := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-lowest mutants docs linkcheck man bench validate prepare-release release clean

demo: $(VENV)/.installed
	$(BIN)/aspenpy eval comd --machine haswell

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell $(PROSE)
	@echo "$(TYPES)  (beside the tests; its report comes last)"; echo "$(SUITE)"; \
	$(TYPES) > $(VENV)/types.txt 2>&1 & types=$$!; \
	$(SUITE); tests=$$?; \
	wait $$types; types=$$?; \
	cat $(VENV)/types.txt; exit $$((tests ? tests : types))

# Changes 100 places by seed, each on a copy, and runs the tests that reach it: SEED=7 draws the same again,
# WITHIN=aspenpy/explore COUNT=20 asks of one room, or of one file, what its tests let through.
mutants: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutation.run $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(if $(WITHIN),--within $(WITHIN))

# A part of the suite, that which touches libraries, with the lowest versions that pyproject.toml declares: an environment of its own.
LOWEST := $(VENV)-lowest
test-lowest:
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) .ci/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --constraint $(LOWEST)/constraints.txt \
	  --editable ".[data,empirical,fast,optimise,plot,sample,sensitivity]" pytest pytest-xdist hypothesis jsonschema
	$(LOWEST)/bin/python -m pytest -q -n auto --dist loadfile \
	  tests/expr/test_sympy*.py tests/engine tests/report tests/tables tests/roofline tests/sweeps/test_store.py tests/learnt

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Asks every web page that the documentation names; not part of the tests, since pages of others come and go.
linkcheck: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/linkcheck

man: $(VENV)/.installed-dev
	$(BIN)/python docs/commands_page.py
	$(BIN)/python docs/manual_pages.py

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.run

validate: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.real.validate

# docs/releasing.md says what comes before, between and after the two.
prepare-release: $(VENV)/.installed-dev
	$(BIN)/python docs/release.py prepare $(RELEASE)

# The bill of materials lists what an installation without extras brings, in an environment of its own.
release: $(VENV)/.installed-dev
	$(PYTHON) -m venv --clear build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check .
	$(BIN)/python docs/release.py build --environment build/release/bin/python

clean:
	rm -rf $(VENV) $(LOWEST) docs/_build build dist

# An environment that was left half made, or whose Python is gone, counts for nothing, and its stamps with it.
ifneq ($(shell $(BIN)/python -c 'import pip; print("usable")' 2>/dev/null),usable)
$(shell rm -rf $(VENV))
endif

$(VENV)/.installed: extras =
$(VENV)/.installed-dev: extras = [dev]

# The stamp is written last: an installation that was interrupted is taken up again.
$(VENV)/.installed $(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".$(extras)"
	$(BIN)/python -m compileall -q aspenpy
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "aspenpy needs Python 3.11 or newer; $(PYTHON) is older or missing. Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
