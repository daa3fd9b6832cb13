# Each target sets up what it uses; the only requirement is Python 3.11 or newer with venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT := out

.PHONY: demo test slow matrix benchmark lint hooks docs wheel clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gangopt requires Python 3.11 or newer; run make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[test]'
	touch $@ $(VENV)/.core

$(VENV)/.develop: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[test,lint,docs,distributed]'
	touch $@ $(VENV)/.test $(VENV)/.core

# Main result: heuristics against proven optima on the papers' named instances.
demo: $(VENV)/.core
	mkdir -p $(OUT)
	$(BIN)/gangopt compare 'parameters/*' 'allocation/*' 'placement/*' 'network_placement/*-w32-philly-2017' --time-limit 10 -o $(OUT)/demo.parquet
	$(BIN)/gangopt plot $(OUT)/demo.parquet -o $(OUT)/demo.png
	$(BIN)/gangopt compare 'auction/*' 'fair_share/*' 'schedule/*' 'bid/*' --time-limit 10 -o $(OUT)/demo-themis.parquet
	$(BIN)/gangopt replay 'workload/tiresias-testbed?seed=1' --cluster tiresias-testbed --policy yarn-cs,best-effort,srtf,srsf,tiresias-l -o $(OUT)/demo-replay.png

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto

slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow

# The suite on every Python from 3.11 to 3.13 that is found, and once on the lowest allowed dependencies.
matrix:
	.ci/matrix

benchmark: $(VENV)/.test
	$(BIN)/python -m pytest -m benchmark -s tests/benchmarks

lint: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $$(git ls-files 'gangopt/*.py')

# Run the linters at every commit.
hooks: $(VENV)/.develop
	$(BIN)/pre-commit install

# Pages of modules that moved or went would be warnings.
docs: $(VENV)/.develop
	rm -rf docs/api/generated
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

# The wheel, installed and tried away from the source tree.
wheel: $(BIN)/python
	PYTHON=$(BIN)/python .ci/wheel

clean:
	rm -rf $(VENV) .venv-3.1? .venv-lowest $(OUT) docs/_build docs/api/generated
