"""Runs handler.py as Lambda's own Python runtime does."""

import runpy
import sys

sys.argv = ["awslambdaric", "handler.handle"]
runpy.run_module("awslambdaric", run_name="__main__")
