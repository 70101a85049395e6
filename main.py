"""Starts KVStudio from a checkout: `python main.py [ARGUMENTS]`, the same as `kvstudio`."""

from kvstudio.cli import main

if __name__ == "__main__":
    main()
