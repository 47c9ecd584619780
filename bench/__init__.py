"""Benchmarks: `bin/bench`. Each goal is measured beside its baseline, in one run and on one machine."""
