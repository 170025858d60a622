# Every command of the project. `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help run test check demo token migrate import knowledge build bench soak snapshots lock

PYTHON ?= $(shell for p in $(HOME)/.pyenv/versions/3.13*/bin/python python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
PY := $(VENV)/bin/python
export PYTHONPATH := $(CURDIR):$(CURDIR)/layers/runtime

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

run: $(VENV)/.ready ## start everything here and print `ready http://127.0.0.1:8000` (PORT=8000 DATA=.local)
	@exec $(PY) -m local.cloud --port $(or $(PORT),8000) --data $(or $(DATA),.local)

test: $(VENV)/.ready .venv-sam/.ready ## check, then every test; those with deadlines of real workers run apart (ARGS="-k gate" for some)
	@$(MAKE) --no-print-directory check
	@$(if $(ARGS),$(PY) -m pytest $(ARGS),$(PY) -m pytest -q -n 3 --dist loadfile -m "not deadline" && $(PY) -m pytest -q -n 2 --dist loadfile -m deadline tests/e2e)

check: $(VENV)/.ready ## lint, format, types and the direction of imports
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy .
	@$(VENV)/bin/lint-imports

demo: $(VENV)/.ready ## hold conversations with a fresh local cloud, print them with timings and stop
	@$(PY) -m local.cloud.demo

token: $(VENV)/.ready ## print a JWT for the local cloud (USER=amira.haddad TENANT=northwind SCOPE=admin)
	@$(PY) -m local.cloud.token $(if $(findstring command,$(origin USER)),--user '$(USER)') $(if $(TENANT),--tenant $(TENANT)) $(if $(SCOPE),--scope $(SCOPE)) $(if $(DATA),--data $(DATA))

migrate: $(VENV)/.ready ## bring a database to this release (DATABASE_URL= of its owner)
	@$(PY) -m oria_runtime.db $(if $(DATABASE_URL),--database-url '$(DATABASE_URL)')

import: $(VENV)/.ready ## load your own data (KIND=tenant|skills|jobs|trainings|opportunities|people FILE= TENANT= MAPPING=)
	@$(PY) -m local.cloud.importing --kind $(KIND) --file $(FILE) $(if $(TENANT),--tenant $(TENANT)) $(if $(MAPPING),--mapping $(MAPPING)) $(if $(DATA),--data $(DATA)) $(ARGS)

knowledge: $(VENV)/.ready ## make a folder known to the running cloud (FOLDER=the sample handbook PORT=8090 ARGS=--once)
	@exec $(PY) -m local.cloud.knowledge_command $(if $(FOLDER),--folder '$(FOLDER)') $(if $(PORT),--port $(PORT)) $(if $(TENANT),--tenant $(TENANT)) $(if $(DATA),--data $(DATA)) $(ARGS)

build: .venv-sam/.ready ## cross-build functions and layers for Lambda with SAM (needs a Python 3.13)
	@$(PY) -m local.packaging build

bench: $(VENV)/.bench ## print latency, throughput, queries, bytes and cold starts (ARGS="--only refresh")
	@$(PY) -m local.bench $(ARGS)

soak: $(VENV)/.ready ## the long tests: a thousand turns under faults, ten thousand odd requests, fifty killed refreshes
	@SOAK=1 SCHEMATHESIS_EXAMPLES=10000 $(PY) -m pytest -s --timeout 7200 tests/e2e/test_soak.py tests/integration/http/test_openapi.py tests/integration/knowledge/refresh/test_kills.py $(ARGS)

snapshots: $(VENV)/.ready ## write the exact prompts, tool schemas and conversations again; review the diff
	@UPDATE_SNAPSHOTS=1 $(PY) -m pytest -q tests/integration/agents/test_requests.py tests/integration/oria tests/e2e/test_conversations.py tests/e2e/test_offline_conversations.py

lock: $(VENV)/.ready ## pin the requirements again, with hashes
	@$(PY) -m local.packaging lock

$(VENV)/.ready: requirements/dev.txt
	@test -n "$(PYTHON)" || { echo "Oria needs Python 3.11 or newer: install one, or call make PYTHON=/path/to/python"; exit 1; }
	@echo "installing into $(VENV) with $(PYTHON) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.ready
	@echo "installing what is measured beside it into $(VENV) (once)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

.venv-sam/.ready: requirements/sam.txt | $(VENV)/.ready
	@echo "installing SAM into .venv-sam (about a minute, once)"
	@$(PYTHON) -m venv .venv-sam
	@.venv-sam/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/sam.txt
	@touch $@
