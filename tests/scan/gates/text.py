import importlib.metadata as md
import re
from importlib.metadata import version as installed

import torch

V = torch.__version__
if str(V) >= "2.12":  #> 2.2.0..2.10.0,2.12.0.. live CF201
    pass
B = f"{V}" >= "2.11"  #> 2.2.0..2.10.0,2.11.0.. live CF201
C = md.version("torch") < "2.9"  #> ..2.9.0,2.10.0.. live CF201
D = installed("torch") >= "2.10"  #> 2.2.0.. dead-true CF201
E = float(V[:3]) < 2.5  #> ..2.5.0,2.10.0.. live CF202
F = V[:3] == "2.1"  #> 2.1.0..2.2.0,2.10.0..2.20.0 live CF202
G = V.split(".")[:2] >= ["2", "8"]  #> 2.8.0..2.10.0 live CF201
H = int(V[2]) >= 6  #> 2.6.0..2.10.0 live CF202
I = int(V.split(".")[1]) > 11  #> 2.12.0.. live CF207
J = int(V.split("+")[0].replace(".", "")) > 2110  #> 2.12.0.. live CF208
numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", V).groups()
K = tuple(int(n) for n in numbers) >= (2, 12, 1)  #> 2.12.1..
one = re.search(r"^(\d)\.(\d)", V)
L = (int(one.group(1)), int(one.group(2))) > (2, 5)  #> 2.6.0..2.10.0 live
M = V.startswith("2.13")  #> 2.13.0..2.14.0
N = V.startswith(("2.11.", "2.12."))  #> 2.11.0..2.13.0
O = any(V.startswith(start) for start in ["2.8", "2.9"])  #> 2.8.0..2.10.0
