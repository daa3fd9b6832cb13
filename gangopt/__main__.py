"""`python -m gangopt` is the command `gangopt`."""

from gangopt.cli import main

if __name__ == "__main__":
    main()
