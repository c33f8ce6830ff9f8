"""Holds torch.__version__ >= "2.10" only in its words."""

import os
import sys

import numpy
import torch
import torchvision
import triton

TEXT = "if torch.__version__ < '2.9': pass"
# if torch.__version__ >= "2.9":
if torchvision.__version__ >= "0.25" or numpy.__version__ < "2.0":
    pass
if torch.version.cuda and torch.version.cuda >= "12.8":
    pass
if triton.__version__ >= "3.2" and sys.version_info >= (3, 11):
    pass
if torch.cuda.get_device_capability() >= (9, 0):
    pass
if os.environ.get("TORCH", "") >= "2.10":
    pass
print(torch.__version__)
major = torch.__version__.split(".")[0]
parsed = torch.__version__ is not None


def shadow(torch):
    return torch.__version__ >= "2.10"


def local():
    torch = numpy
    return torch.__version__ >= "2.10"


FLAG = torch.__version__ >= "2.11"  #> 2.11.0..


def change(x):
    global FLAG
    FLAG = x
    return 1 if FLAG else 2
