import unittest

import pytest
import torch
from packaging.specifiers import SpecifierSet
from packaging.version import parse

V = parse(torch.__version__)
OLD = V < parse("2.11")  #> ..2.11.0
NEW = not OLD  #> 2.11.0..
RANGE = SpecifierSet(">=2.9,<2.12")

assert torch.__version__ >= "2.6", "too old"  #> 2.6.0.. dead-true
while V < parse("2.7"):  #> ..2.7.0 dead-false
    break
path = "new" if V >= parse("2.12") else "old"  #> 2.12.0..
if (here := parse(torch.__version__)) >= parse("2.10") and here < parse("2.12"):  #> 2.10.0..2.12.0
    pass
if V in RANGE:  #> 2.9.0..2.12.0
    pass
elif V in SpecifierSet("==2.13.*"):  #> 2.13.0..2.14.0
    pass
near = RANGE.contains(V, prereleases=True)  #> 2.9.0..2.12.0
line = SpecifierSet("~=2.11").contains(V)  #> 2.11.0..
match torch.__version__.split(".")[:2]:
    case ["2", "12"]:  #> 2.12.0..2.13.0
        pass
    case _:
        pass
match V.release[:2]:
    case (2, small) if small < 11:  #> ..2.11.0
        pass
    case (2, 11 | 13):  #> 2.11.0..2.12.0,2.13.0..2.14.0
        pass


def use(x, gpu):
    if NEW and gpu:  #> 2.11.0..
        return x
    if V < parse("2.6"):  #> ..2.6.0 dead-false
        return None
    kept = [n for n in x if OLD]  #> ..2.11.0
    return dict(flag=V >= parse("2.13"), kept=kept)  #> 2.13.0..


if V < parse("2.12"):  #> ..2.12.0
    if V >= parse("2.13"):  #> 2.13.0.. live CF104
        pass


@pytest.mark.skipif(V < parse("2.13"), reason="new")  #> ..2.13.0
def test_marked():
    pass


class Case(unittest.TestCase):
    @unittest.skipUnless(V >= parse("2.5"), "old")  #> 2.5.0.. dead-true
    def test_method(self):
        if torch.__version__ < "2.14":  #> ..2.14.0
            self.skipTest("old")


# gone since 2.12
if V < parse("2.12.1"):  #> ..2.12.1 live CF204
    pass
