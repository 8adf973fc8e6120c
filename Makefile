# Two commands a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes that run tests: one per core, four at most; `make test WORKERS=0` for a debugger. The tests of a file stay
# together, so that what its fixtures make is made once.
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest --durations=15
PARALLEL := -n $(WORKERS) --maxprocesses 4 --dist loadfile

.PHONY: demo test test-long test-wheel coverage lint docs figures bench fuzz faults soak mutants blender validator clean

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
	$(PYTEST) $(PARALLEL)

test-long: $(VENV)/.ready
	$(PYTEST) $(PARALLEL) -m long

test-wheel: $(VENV)/.ready
	$(PYTEST) -m wheel tests/test_wheel.py

# The compiled kernels, run by the interpreter: which of their lines the tests reach.
coverage: $(VENV)/.ready
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -m interpreted
	$(BIN)/python -m coverage report

docs: $(VENV)/.ready
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/docs

lint: $(VENV)/.ready
	$(BIN)/ruff check src tests benchmarks papers tools examples
	$(BIN)/ruff format --check src tests benchmarks papers tools examples
	$(BIN)/mypy

figures: $(VENV)/.ready
	$(BIN)/stunt figures p0 --out figures

bench: $(VENV)/.ready
	$(BIN)/stunt bench

# Campaigns: minutes as they are; for hours `make fuzz COUNT=10000`, `make faults KILLS=200`, `make soak SECONDS=36000`.
SEED ?= 1
COUNT ?= 300
KILLS ?= 20
SECONDS ?= 300

fuzz: $(VENV)/.ready
	$(BIN)/python -m tests.campaigns.fuzz --count $(COUNT) --seed $(SEED)
	$(BIN)/python -m tests.campaigns.messages --count $(COUNT) --seed $(SEED)

faults: $(VENV)/.ready
	$(BIN)/python -m tests.campaigns.faults --kills $(KILLS) --seed $(SEED)

soak: $(VENV)/.ready
	$(BIN)/python -m tests.campaigns.scenes --count $(COUNT) --seed $(SEED)
	$(BIN)/python -m tests.campaigns.soak --seconds $(SECONDS) --seed $(SEED)

# Physical mutants: a law changed in one place, and which test notices. Goes on where it was interrupted.
CORES ?= 2

mutants: $(VENV)/.ready
	$(BIN)/python -m tests.campaigns.physics --cores $(CORES)

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
	rm -rf $(BLENDER) .gltf $(VENV) .numba_cache .coverage build dist takes figures src/*.egg-info
