# Two commands a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-long test-wheel lint docs figures bench clean

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/stunt perform ymca --out takes/ymca

test: $(VENV)/.ready lint
	$(BIN)/python -m pytest

test-long: $(VENV)/.ready
	$(BIN)/python -m pytest -m long

test-wheel: $(VENV)/.ready
	$(BIN)/python -m pytest -m wheel tests/test_wheel.py

docs: $(VENV)/.ready
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/docs

lint: $(VENV)/.ready
	$(BIN)/ruff check src tests
	$(BIN)/mypy

figures: $(VENV)/.ready
	$(BIN)/stunt figures p0 --out figures

bench: $(VENV)/.ready
	$(BIN)/stunt bench

clean:
	rm -rf $(VENV) build dist takes figures src/*.egg-info
