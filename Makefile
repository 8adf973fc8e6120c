# Two commands a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-long test-wheel lint docs figures bench blender validator clean

# What performing needs; tests need much more, and a newcomer should not wait for it.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.ready: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(VENV)/.installed
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
	$(BIN)/ruff check src tests benchmarks papers tools
	$(BIN)/mypy

figures: $(VENV)/.ready
	$(BIN)/stunt figures p0 --out figures

bench: $(VENV)/.ready
	$(BIN)/stunt bench

# Tools that check exported files. Tests that need them are skipped where they are not installed.
BLENDER := .blender
BPY := 4.5.15
GLTF_VALIDATOR := 2.0.0-dev.3.10

blender: $(BLENDER)/.ready
$(BLENDER)/.ready:
	$(PYTHON) -m venv $(BLENDER)
	$(BLENDER)/bin/python -m pip install --quiet --disable-pip-version-check bpy==$(BPY)
	touch $@

validator: .gltf/node_modules/gltf-validator
.gltf/node_modules/gltf-validator:
	npm install --silent --no-audit --no-fund --prefix .gltf gltf-validator@$(GLTF_VALIDATOR)

clean:
	rm -rf $(BLENDER) .gltf $(VENV) build dist takes figures src/*.egg-info
