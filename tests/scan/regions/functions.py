import functools
import os

import torch
from torch import compile as speed_up
from torch.utils.checkpoint import checkpoint

ON = os.environ.get("FAST") == "1"
full = functools.partial(torch.compile, fullgraph=True)
never = functools.partial(torch.compile, disable=True)
either = torch.compile if ON else (lambda f, **_: f)


@torch.compile
def plain(x):
    helper(x)
    checkpoint(recomputed, x)
    return torch.cumsum(x, 0)  #> yes


def helper(x):
    return torch.flip(x, [0])  #> yes


def recomputed(x):
    return x.sort()  #> yes


def untouched(x):
    return x.cumsum(0)  #> no


@full
def by_partial(x):
    return x.cumsum(0)  #> yes


@never
def switched_off(x):
    return x.cumsum(0)  #> no


@either
def perhaps(x):
    return x.cumsum(0)  #> maybe


@torch.compile(disable=ON)
def perhaps_too(x):
    return x.cumsum(0)  #> maybe


def twice(x):
    return x.cumsum(0)  #> maybe


@speed_up(mode="max-autotune")
def caller(x):
    if torch.compiler.is_compiling():
        x = x.flip(0)  #> yes
    else:
        x = x.flip(1)  #> no
    hidden(x)
    return twice(x)


def eager_caller(x):
    return twice(x)


@torch.compiler.disable
def hidden(x):
    return x.cumsum(0)  #> no


squared = torch.compile(lambda x: x.cumsum(0))  #> yes


def dropped(x):
    return x.cumsum(0)  #> no


torch.compile(dropped)


def since(x):
    return x.cumsum(0)  #> maybe


since = torch.compile(since) if torch.__version__ >= "2.12" else since
