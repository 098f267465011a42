"""Leaderboards of scored predictions: who predicts best, where, how evenly, and with what."""
