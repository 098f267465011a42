"""Words and algebra: states, metrics, kernels, contracts. Knows no other room."""
