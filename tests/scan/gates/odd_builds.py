from distutils.version import LooseVersion, StrictVersion

import torch as th

A = LooseVersion(th.__version__) >= LooseVersion("2.11.0")  #> 2.11.0..
B = LooseVersion(th.__version__) < "2.12"  #> ..2.12.0
C = StrictVersion(th.__version__) < StrictVersion("2.7.0")  #> ..2.7.0 dead-false CF211
