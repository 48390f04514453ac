"""Checks of what no recording shows: each case is a function, its differences are what it expected in vain."""


class Cases:
    def __init__(self):
        self.functions = {}

    def __call__(self, name):
        def add(function):
            self.functions[name] = function
            return function

        return add

    async def run(self, *arguments):
        """Yields (case name, list of differences)."""
        for name, function in self.functions.items():
            expect = Expectations()
            try:
                await function(expect, *arguments)
            except Exception as error:
                expect.differences.append(f"{type(error).__name__}: {error}")
            yield name, expect.differences


class Expectations:
    def __init__(self):
        self.differences = []

    def __call__(self, what, expected, actual):
        if expected != actual or type(expected) is not type(actual):
            self.differences.append(f"{what}: {expected!r} ≠ {actual!r}")

    def true(self, what, holds):
        if not holds:
            self.differences.append(f"not so: {what}")
