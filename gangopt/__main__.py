"""Entry point of `python -m gangopt`."""

from gangopt.cli import main

if __name__ == "__main__":
    main()
