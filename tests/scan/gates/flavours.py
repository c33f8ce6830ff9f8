import torch
from packaging.version import parse

A = "+git" in torch.__version__  #> never build
B = parse(torch.__version__).is_devrelease  #> never build
C = torch.__version__.endswith("cpu")  #> never build
D = parse(torch.__version__).local is None  #> never build


def internal():
    return not hasattr(torch.version, "git_version")  #> never build


if internal() or torch.__version__ >= "2.13":  #> never build; 2.13.0..
    pass
