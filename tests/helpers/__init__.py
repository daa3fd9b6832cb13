"""Cases and slow references that tests of several layers share; `tests` is on the import path."""
