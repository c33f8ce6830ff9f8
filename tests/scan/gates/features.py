import torch
import torch._dynamo.config as dynamo
import torch.nn.functional as F

if hasattr(torch.compiler, "set_stance"):  #> 2.6.0.. dead-true
    pass
A = hasattr(F, "grouped_mm")  #> 2.10.0..
B = hasattr(dynamo, "recompile_limit") or print  #> 2.7.0.. dead-true
C = getattr(torch.compiler, "nonstrict_trace", None)
D = C is None  #> 2.1.0..2.14.0
E = hasattr(torch, "relu")
G = hasattr(F, "relu")

try:
    from torch.nn.attention.varlen import varlen_attn

    HAS = True  #> 2.10.0..
except ImportError:
    HAS = False

try:
    from torch.nn.attention.flex_attention import flex_attention
except ImportError:
    flex_attention = None  #> ..2.5.0 dead-false

if flex_attention is None:  #> ..2.5.0 dead-false
    pass

try:
    import xformers

    FAST = True
except ImportError:
    FAST = False
