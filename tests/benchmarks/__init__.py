"""Speed and size of the solvers, printed by `make bench`; never part of the tests."""
