import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Inner(nn.Module):
    def forward(self, x):
        return x.cumsum(0)  #> yes


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(self.mixed(x))

    def mixed(self, x):
        return x.flip(0)  #> yes

    def generate(self, x):
        return x.flip(0)  #> no


net = torch.compile(DistributedDataParallel(Outer()))


class InPlace(nn.Module):
    def forward(self, x):
        return x.cumsum(0)  #> yes


held = InPlace()
held.compile()


class ByMethod(nn.Module):
    def forward(self, x):
        return x.cumsum(0)  #> yes


other = ByMethod()
other.forward = torch.compile(other.forward)


class Idle(nn.Module):
    def forward(self, x):
        return x.cumsum(0)  #> no


idle = Idle()


class Trainer:
    def __init__(self):
        self.step = torch.compile(self._step)

    def _step(self, x):
        return Clip.apply(x)

    def log(self, x):
        return x.cumsum(0)  #> no


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.cumsum(0)  #> yes

    @staticmethod
    def backward(ctx, g):
        return g.flip(0)  #> yes
