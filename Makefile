.PHONY: run test test-slow lint fix check bench install

run:  ## the main job on examples/catalog; options: make run ARGS="--tasks 40 --out DIR"
	@./scripts/run $(ARGS)

test:  ## install, lint, strict types, tests
	@./scripts/test $(ARGS)

test-slow:  ## only the tests marked slow
	@./scripts/test -m slow $(ARGS)

lint:  ## lint, formatting, strict types, in the .venv that is there
	@./scripts/lint

fix:  ## the same, after the fixes that ruff can make by itself
	@./scripts/lint --fix

check:  ## lint and tests, installing nothing
	@./scripts/check $(ARGS)

bench: install  ## throughput on this machine, as one JSON document
	@.venv/bin/python benchmarks/pipeline.py --json $(ARGS)

install:  ## .venv with what `weft` needs to run
	@./scripts/install core
