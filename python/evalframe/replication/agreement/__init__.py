"""Posteriors, PAS from test to model, and ECS: how far agents agree with humans."""
