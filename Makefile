# Two commands do everything on a fresh machine with Python 3.11+, a C compiler and make:
#   make demo    a real language-server session on examples/, and excise on a repository that it builds, which stays
#   make test    every test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
KERNEL_SOURCES := $(shell find core -name '*.pyx' -o -name '*.pxd')
DISTRIBUTIONS := dist/.ready
DISTRIBUTED := $(shell find core server build_backend \( -name '*.py' -o -name '*.py[xi]' -o -name '*.pxd' -o -name py.typed -o -name background.json \)) \
  pyproject.toml MANIFEST.in README.md SECURITY.md LICENSE CHANGELOG.md CITATION.cff
CLIENT := vscode-client
CLIENT_SOURCES := $(shell find $(CLIENT) \( -name node_modules -o -name dist -o -name out \
  -o -name .vscode-test \) -prune -o -type f -print)
CLIENT_CHECKED := $(CLIENT)/node_modules/.checked
NODE_READY := $(CLIENT)/node_modules/.ready
# A process more than there are cores, as tests wait for servers and browsers; tests of one group
# (VS Code) stay in one, and conftest.py says which start first.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PARALLEL := --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder
# Without compiled bytecode every process of the tests compiles ours and theirs again.
unexport PYTHONDONTWRITEBYTECODE
# `pip install --group` needs pip 25.1, and a new environment may have an older one.
install_group = $(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["$(2)"], sep="\n")' | \
  $(1)/python -m pip install --quiet --disable-pip-version-check -r /dev/stdin
RUN_CLIENT = VENV="$(abspath $(VENV))" node $(CLIENT)/scripts/run.mjs

.DEFAULT_GOAL := help
.PHONY: help check-wheel check-release docs demo quick test test-dist dist lock check format bench bench-ir bench-lsp bench-patches eval eval-envs images schema nightly fuzz lines clean \
  code vsix audit test-vscode check-vscode check-client-changes screenshots

help:
	@echo "make demo     a real language-server session on examples/, as an editor shows it; then excise on eight worktrees, in build/demo"
	@echo "make quick    while you work, 35 seconds: ruff, mypy, import contracts, the fast tests"
	@echo "make test     every test, on all cores (data for measuring: EXCISE_DATA=DIR)"
	@echo "make code     try the VS Code extension on examples/, in a browser"
	@echo "make check    everything static: ruff, cython-lint, mypy --strict, import contracts, eslint, tsc"
	@echo "make format   rewrite the Python code as ruff wants it"
	@echo "make bench    every goal side by side with its peers, as ratios within one run (EXCISE_MIRRORS=DIR: real histories, too)"
	@echo "make bench-ir instructions of the kernels, counted by callgrind; fails if one grew by a tenth"
	@echo "make bench-patches time, memory and agreement of grouping patches (EXCISE_DATA=DIR)"
	@echo "make bench-lsp what the language server costs an editor: p50, p95, max"
	@echo "make eval     the measures of the field beside Excision Score, on EXCISE_DATA: tables, figures"
	@echo "make eval-envs environments of their own for CodeBLEU (45 MB), BERTScore and LENS (1.5 GB)"
	@echo "make docs     the documentation as a site, in build/site; strict, and nothing of it from the network"
	@echo "make schema   write docs/schema, the JSON Schema of what the commands print, and the types of the VS Code client"
	@echo "make images   draw the pictures of the README and docs from real output"
	@echo "make test-vscode the VS Code extension alone; fails where Node or a browser is missing"
	@echo "make vsix     package the VS Code extension into dist/: universal, and with the server for this platform"
	@echo "make dist     the source distribution and the wheel, into dist/"
	@echo "make test-dist install both in clean environments and run them"
	@echo "make audit    known defects of the packages that are pinned; asks services on the network"
	@echo "make check-wheel what is in the wheel, and whether each Python that is here can use it"
	@echo "make check-release lint the workflow of a release"
	@echo "make lock     pin what the extension's server needs, by hashes, at the versions of .venv"
	@echo "make screenshots renew the pictures of the VS Code extension under docs/images/"
	@echo "make fuzz     random inputs for whatever reads what others wrote (SECONDS=120 in all)"
	@echo "make nightly  the property tests with ten times the examples, a take stopped at each of its calls, make fuzz, make audit: two hours"
	@echo "make lines    the size of the product and of its tests, in lines, and which files count"
	@echo "make clean    remove the virtual environment and everything built"

$(INSTALLED): pyproject.toml tools/environment.py
	@$(PYTHON) tools/environment.py $(VENV) $@

# make looks at dates and then this at contents: only kernels made from other text are built again.
$(READY): $(INSTALLED) $(KERNEL_SOURCES) build_backend/build_kernels.py pyproject.toml
	@$(BIN)/python build_backend/build_kernels.py
	@touch $@

# No script of a package runs: what is installed is what the lock file names.
$(NODE_READY): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' && command -v npm >/dev/null || { \
	  echo "the VS Code extension needs Node 20 or newer and npm: https://nodejs.org"; exit 1; }
	@echo "Installing Node packages into $(CLIENT)/node_modules"
	@cd $(CLIENT) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

demo: $(READY)
	@$(BIN)/python examples/demo.py
	@rm -rf build/demo
	@$(BIN)/excise demo build/demo
	@cd build/demo/shop && "$(abspath $(BIN))/excise"

quick: $(READY)
	@$(BIN)/python tools/quick.py

test: $(READY)
	$(BIN)/python -m pytest $(PARALLEL)

bench: $(READY)
	$(call install_group,$(BIN),bench)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/incremental.py
	$(BIN)/python benchmarks/starts.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/levels.py
	$(BIN)/python benchmarks/histories.py

bench-ir: $(READY)
	$(BIN)/python benchmarks/instructions.py

bench-patches: $(READY)
	$(call install_group,$(BIN),bench)
	$(BIN)/python benchmarks/patches.py
	$(BIN)/python benchmarks/patches_scale.py
	$(BIN)/python benchmarks/patches_jobs.py
	$(BIN)/python benchmarks/duplicates.py
	$(BIN)/python benchmarks/duplicates.py time

bench-lsp: $(READY)
	$(BIN)/python benchmarks/lsp.py

eval: $(READY)
	$(BIN)/python benchmarks/evaluation.py

# What cannot share our environment goes into others, which the tests and `excise eval` can use:
#   EXCISE_CODEBLEU_PYTHON=.venv-codebleu/bin/python EXCISE_LENS_PYTHON=.venv-models/bin/python ...
eval-envs: .venv-codebleu/.ready .venv-models/.ready

.venv-%/.ready: pyproject.toml
	@$(PYTHON) -m venv .venv-$*
	@$(call install_group,.venv-$*/bin,$*)
	@touch $@

# Into build/site, strictly: a broken link or an unknown name of the library fails. 10 s, 30 MB of packages.
docs: $(READY)
	@$(BIN)/python -c 'import material, mkdocstrings_handlers.python' 2>/dev/null || \
	  { $(call install_group,$(BIN),docs); }
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

schema: $(READY)
	$(BIN)/python docs/schema.py
	$(BIN)/python tools/client_types.py

images: $(READY)
	$(BIN)/python docs/images.py

dist: $(DISTRIBUTIONS)

$(DISTRIBUTIONS): $(INSTALLED) $(DISTRIBUTED) tools/distribution.py
	@$(BIN)/python tools/distribution.py dist
	@touch $@

check-wheel: $(DISTRIBUTIONS) .venv-release/.ready
	@.venv-release/bin/python tools/wheel_checks.py dist

check-release: .venv-release/.ready
	@.venv-release/bin/zizmor --offline --quiet --strict-collection .github/workflows action.yml

test-dist: $(DISTRIBUTIONS)
	EXCISE_DIST=required $(BIN)/python -m pytest tests/distribution

# Known defects of what the extension and the action install, and of what builds the extension. Both ask a
# service on the network; without it both fail (--strict: also where one package was not known).
audit: .venv-audit/.ready $(NODE_READY)
	.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip --requirement vscode-client/requirements.txt
	cd $(CLIENT) && npm audit --audit-level=high

# The versions of .venv, which the tests ran with: test before, and try `make vsix` after.
lock: $(INSTALLED)
	@$(BIN)/python tools/lock.py .venv-lock

nightly: $(READY)
	HYPOTHESIS_PROFILE=nightly EXCISE_TAKE_POINTS=all $(BIN)/python -m pytest $(PARALLEL)
	$(BIN)/python -m tests.server.byte_laws 100000
	$(BIN)/python -m tests.fuzz --seconds 600
	$(MAKE) audit

# make fuzz SECONDS=60 TARGETS="mails growth"; what is found lies in build/fuzz, with the command to replay it.
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),120) $(TARGETS)

code: $(READY) $(NODE_READY)
	@$(RUN_CLIENT) code

# WHEEL=FILE.whl packs another wheel of ours, for its platform: one that cibuildwheel made, say.
vsix: $(INSTALLED) $(NODE_READY) $(if $(WHEEL),,$(DISTRIBUTIONS))
	@$(RUN_CLIENT) vsix $(or $(WHEEL),$$(ls dist/excise-*.whl))

test-vscode: $(READY)
	EXCISE_VSCODE=required $(BIN)/python -m pytest -v -s tests/vscode

screenshots: $(READY) $(NODE_READY)
	@$(RUN_CLIENT) screenshots

check-vscode: $(NODE_READY)
	cd $(CLIENT) && npm run --silent check
	@touch $(CLIENT_CHECKED)

# Half a minute of CPU that an edit elsewhere cannot change the outcome of.
check-client-changes: $(CLIENT_CHECKED)

$(CLIENT_CHECKED): $(CLIENT_SOURCES) $(NODE_READY)
	@$(MAKE) --no-print-directory check-vscode

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint $(KERNEL_SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v node >/dev/null; then $(MAKE) --no-print-directory check-vscode; \
	  else echo "no Node here: the VS Code extension is not checked (https://nodejs.org)"; fi

# PRODUCT is the library, its kernels, the server and the VS Code extension: tracked files, blank lines and comments included.
PRODUCT := core/excise server vscode-client/src
PRODUCT_ENDINGS := py pyx pxd pyi ts css
TEST_ENDINGS := py ts js
lines:
	@count() { git ls-files -z -- "$$@" | xargs -0 cat | wc -l; }; \
	for part in core/excise server vscode-client/src; do \
	  printf '%7d  %s\n' "$$(count $(foreach ending,$(PRODUCT_ENDINGS),"$$part/*.$(ending)"))" "$$part"; done; \
	printf '%7d  product: %s\n' "$$(count $(foreach part,$(PRODUCT),$(foreach ending,$(PRODUCT_ENDINGS),'$(part)/*.$(ending)')))" \
	  "*.{$(PRODUCT_ENDINGS)} under $(PRODUCT)"; \
	printf '%7d  tests: %s\n' "$$(count $(foreach ending,$(TEST_ENDINGS),'tests/*.$(ending)' 'vscode-client/test/*.$(ending)'))" \
	  "*.{$(TEST_ENDINGS)} under tests and vscode-client/test"

format: $(READY)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

clean:
	rm -rf $(CLIENT)/node_modules $(CLIENT)/.vscode-test $(CLIENT)/dist $(CLIENT)/out
	rm -rf $(VENV) build dist *.egg-info core/*.egg-info
	find core -name '*.so' -delete
	rm -rf .venv-lock .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
