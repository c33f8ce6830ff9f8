"""The process that tests of interpreted kernels are forked from: compiles for an H100, interprets."""

from __future__ import annotations

import torch

from compilefix.cuda_interpreted import backend, gpus
from compilefix.runner import warm

warm.prepare()
backend.install(gpus.gpu("h100"))
torch.manual_seed(0)
