import torch
from packaging import version


def current():
    return torch.__version__.split("+")[0]


def newer(major, minor=0, patch=0):
    return version.parse(current()) >= version.parse(f"{major}.{minor}.{patch}")


def between(low, high):
    here = version.parse(torch.__version__)
    if here < version.parse(low):
        return False
    return here < version.parse(high)


def coarse(*wanted):
    parts = torch.__version__.split(".")
    return (int(parts[0]), int(parts[1])) >= wanted[:2]


def by_word(word, wanted):
    pair = tuple(int(n) for n in torch.__version__.split(".")[:2])
    return {"lt": pair < wanted, "ge": pair >= wanted}[word]


def as_list(text):
    found = []
    for piece in text.split("."):
        if piece.isdigit():
            found.append(int(piece))
    return found


def modern():
    return version.parse(torch.__version__) >= version.parse("2.12")  #> 2.12.0..


class Needs:
    def __init__(self, pair):
        self.met = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= pair

    def __call__(self, test):
        import unittest

        return unittest.skipUnless(self.met, "too old")(test)


if newer(2, 11):  #> 2.11.0..
    pass
elif newer(2, 6):  #> 2.6.0.. dead-true
    pass
A = between("2.10", "2.12.1")  #> 2.10.0..2.12.1
B = coarse(2, 12, 1)  #> 2.12.0.. live CF210
C = by_word("lt", (2, 11))  #> ..2.11.0
D = as_list(torch.__version__) >= as_list("2.13.0")  #> 2.13.0.. live CF203
E = modern()  #> 2.12.0..
F = not modern()  #> 2.12.0..


@Needs((2, 13))  #> ..2.13.0
def test_new():
    pass
