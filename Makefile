# Each target does its own set-up; all that is needed is Python 3.11 or newer with venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT := out

.PHONY: demo test slow benchmark lint docs clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gangopt needs Python 3.11 or newer; call make PYTHON=python3.11")'
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

# The main job: heuristics against proven optima on the papers' named instances.
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

benchmark: $(VENV)/.test
	$(BIN)/python -m pytest -m benchmark -s tests/benchmarks

lint: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $$(git ls-files 'gangopt/*.py')

docs: $(VENV)/.develop
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

clean:
	rm -rf $(VENV) $(OUT) docs/_build docs/api/generated
