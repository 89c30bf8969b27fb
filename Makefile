PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
JOBS ?= 2

.PHONY: install app test test-fast bench validate format clean

install: $(VENV)/.installed
$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing fabric-compare"
	@$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing fabric-compare with its developer tools"
	@$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

app: install
	$(BIN)/streamlit run app.py

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(JOBS) --dist worksteal

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

validate: install
	$(BIN)/fabric-compare validate

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out screenshots .pytest_cache .mypy_cache .ruff_cache
