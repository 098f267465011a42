"""How near evalframe comes to the limits: `python -m benchmarks` prints every figure."""
