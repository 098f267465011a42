"""`python -m evalframe`: the command line where its script is not on the path."""

from evalframe.jobs.cli import main

if __name__ == "__main__":
    main()
