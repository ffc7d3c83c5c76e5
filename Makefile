PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test tests test-fast lint docs bench clean

run: $(VENV)/ready
	$(BIN)/pfaff reproduce cazzolli2020 --output report

# Bytecode is written, whatever the environment says: tests start processes, and each would compile all it imports.
test tests test-fast: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/docs
	@$(MAKE) --no-print-directory --jobs 2 lint tests

# The matrices are small: one thread for linear algebra is faster than two that wait for each other. A worker
# that dies ends the run: another one would begin the same file again, and die of it again.
tests: $(VENV)/docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --max-worker-restart 0

test-fast: $(VENV)/ready
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --max-worker-restart 0 -m "not slow"

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "open build/docs/index.html"

bench: $(VENV)/bench
	$(BIN)/python benchmarks/derive.py
	$(BIN)/python benchmarks/bicycle.py
	$(BIN)/python benchmarks/calls.py
	$(BIN)/python benchmarks/critical.py
	$(BIN)/python benchmarks/flutter_map.py
	$(BIN)/python benchmarks/studies.py
	$(BIN)/python benchmarks/rods.py
	$(BIN)/python benchmarks/simulate.py
	$(BIN)/python benchmarks/many_bars.py
	$(BIN)/python benchmarks/first_results.py
	$(BIN)/python benchmarks/orbits.py
	$(BIN)/python benchmarks/bifurcation.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/studio.py

# What builds the kernels stays, so that Python builds those again that have changed.
$(VENV)/ready: pyproject.toml $(wildcard building/*.py)
	$(PYTHON) -m venv $(VENV)
	$(PIP) $$($(BIN)/python building/requirements.py)
	$(PIP) --no-build-isolation --editable ".[test,sundials]"
	touch $@

$(VENV)/docs: $(VENV)/ready
	$(PIP) --no-build-isolation --editable ".[docs]"
	touch $@

$(VENV)/bench: $(VENV)/ready
	$(PIP) --no-build-isolation --editable ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) report build dist docs/_generated .pytest_cache .mypy_cache .ruff_cache
