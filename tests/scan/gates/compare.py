import torch
from packaging import version
from packaging.version import Version, parse
from pkg_resources import parse_version as as_version

import torch as t
from torch import __version__ as LOADED
from torch.version import __version__ as PLAIN

if torch.__version__ >= "2.11":  #> 2.11.0..
    pass
if LOADED < "2.12.1":  #> ..2.12.1
    pass
if PLAIN < "2.11":  #> ..2.2.0,2.10.0..2.11.0 live CF201
    pass
A = version.parse(torch.__version__) >= version.parse("2.5")  #> 2.5.0.. dead-true
B = Version(t.__version__) < Version("2.13.0")  #> ..2.13.0
C = as_version(torch.__version__) > as_version("2.12.0")  #> 2.12.1.. live CF203
D = "2.11" <= torch.__version__  #> 2.11.0..
E = parse("2.10") <= parse(torch.__version__) < parse("2.12")  #> 2.10.0..2.12.0
F = Version(torch.__version__).base_version == "2.13.0"  #> 2.13.0..2.14.0
G = torch.__version__ >= (2, 13)  #> 2.13.0..
H = torch.__version__ == "2.11"  #> 2.11.0..2.12.0 live CF203
I = torch.__version__ != "2.12.0"  #> ..2.12.0,2.12.1.. live CF203
J = torch.__version__ in ("2.12.0", "2.12.1")  #> 2.12.0..2.13.0 live CF203
K = torch.__version__.split("+")[0] in {"2.13.0"}  #> 2.13.0..2.14.0
L = parse(torch.__version__) <= parse("2.13")  #> ..2.14.0 live CF204
M = parse(torch.__version__) > parse("2.8")  #> 2.9.0.. live CF204
N = parse(torch.__version__) <= parse("2.12.1")  #> ..2.13.0 live CF203
O = torch.__version__ >= Version("2.10")  #> never raises CF211
P = parse(torch.__version__) >= parse("2.13.0.dev")  #> 2.13.0.. live CF206
Q = parse(torch.__version__) >= parse("2.13.0a0")  #> 2.13.0.. live CF206
R = parse(torch.__version__) >= parse("2.99")  #> 2.99.0.. dead-false CF103
S = parse(torch.__version__) < parse("2.9") and parse(torch.__version__) >= parse("2.11")  #> never dead-false CF212
T = parse(torch.__version__) < parse("2.9") or parse(torch.__version__) >= parse("2.11")  #> ..2.9.0,2.11.0..
