# What a person types. `make demo` needs only Rust; `make test` also runs the suites in Node, Go and Python where they are.

SHELL := bash
TARGET := wasm32-unknown-unknown

.PHONY: demo test bench recovery mutants fuzz target

demo: target ## the main job on examples/demo: no cluster, no account
	@cargo run --quiet --locked -p zonewarden-cli --no-default-features -- check --world examples/demo; \
	  code=$$?; if [ $$code -gt 1 ]; then exit $$code; fi

test: target ## every test
	cargo test --workspace --locked

bench: target ## the figures of docs/benchmarks.md
	cargo bench --locked -p zonewarden-benches

recovery: target ## recovery times on a real control plane; RECOVERY="--baseline --runs 3" adds Kubernetes alone, which takes an hour
	cargo build --locked -p zonewarden-cli
	cargo run --locked -p zonewarden-cluster-tests --bin recovery -- $(RECOVERY)

mutants: ## shows that the tests of the rules bite; needs: cargo install --locked cargo-mutants
	cargo mutants --package zonewarden-rules --no-shuffle

fuzz: ## ids and objects for a bounded time; needs: cargo install --locked cargo-fuzz
	cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none ids -- -max_total_time=60
	cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none objects -- -max_total_time=60

# The one thing a machine with Rust may lack. Without rustup the command is named by the build itself.
target:
	@command -v cargo >/dev/null || { echo "Rust is missing: https://rustup.rs, or your distribution's rustup package" >&2; exit 2; }
	@[ -d "$$(rustc --print target-libdir --target $(TARGET) 2>/dev/null)" ] || rustup target add $(TARGET)
