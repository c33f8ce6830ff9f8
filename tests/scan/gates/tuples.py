import operator

import torch
from packaging.version import Version

PAIR = tuple(int(n) for n in torch.__version__.split(".")[:2])
MAJOR, MINOR = (int(n) for n in torch.__version__.split(".")[:2])
RELEASE = Version(torch.__version__).release
if PAIR >= (2, 11):  #> 2.11.0..
    pass
A = PAIR == (2, 12)  #> 2.12.0..2.13.0
B = (2, 9) <= PAIR <= (2, 11)  #> 2.9.0..2.12.0
C = PAIR >= (2, 12, 1)  #> 2.13.0.. live CF205
D = RELEASE == (2, 12)  #> never dead-false CF205
E = RELEASE > (2, 12)  #> 2.12.0.. live CF205
F = RELEASE < (2, 12)  #> ..2.12.0
G = RELEASE[:2] != (2, 13)  #> ..2.13.0,2.14.0..
H = MAJOR >= 2 and MINOR >= 11  #> 2.11.0.. live CF207
I = MAJOR > 2 or (MAJOR == 2 and MINOR > 10)  #> 2.11.0..
J = Version(torch.__version__).minor >= 13  #> 2.13.0.. live CF207
K = operator.lt(Version(torch.__version__), Version("2.11"))  #> ..2.11.0
L = min(PAIR, (2, 12)) == (2, 12)  #> 2.12.0..
M = RELEASE[1] in range(10, 12) and RELEASE[0] == 2  #> 2.10.0..2.12.0
N = list(map(int, torch.__version__.split("+")[0].split(".")[:2])) < [2, 10]  #> ..2.10.0
