"""Batch jobs: a job as data, its inputs and outputs, and the command line that builds one."""
