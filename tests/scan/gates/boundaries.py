import torch
from packaging.version import parse

V = parse(torch.__version__)
if V >= parse("2.8"):  #> 2.8.0.. dead-true
    pass
if V >= parse("2.8.0"):  #> 2.8.0.. dead-true
    pass
if V < parse("2.8"):  #> ..2.8.0 dead-false
    pass
if V >= parse("2.8.1"):  #> 2.9.0..
    pass
if V < parse("2.8.1"):  #> ..2.9.0
    pass
if V > parse("2.7.1"):  #> 2.8.0.. dead-true CF203
    pass
if V <= parse("2.7"):  #> ..2.7.1 dead-false CF204
    pass
if V <= parse("2.14.1"):  #> ..2.15.0 dead-true CF203
    pass
if V > parse("2.14.1"):  #> 2.15.0.. dead-false CF203
    pass
if V < parse("2.15"):  #> ..2.15.0 dead-true CF103
    pass
