import operator

from accelerate.utils import compare_versions, is_torch_version
from deepspeed.utils.torch import required_torch_version
from lightning.fabric.utilities.imports import _TORCH_GREATER_EQUAL_2_11
from lightning_utilities.core.imports import RequirementCache, compare_version
from monai.utils import pytorch_after
from some_graphs.typing import WITH_PT25
from transformers.utils import is_torch_greater_or_equal, is_torch_greater_or_equal_than_2_6
from transformers.utils.versions import require_version
from ultralytics.utils import TORCH_2_9
from ultralytics.utils.checks import check_version
from vllm.utils.torch_utils import is_torch_equal, is_torch_equal_or_newer

if is_torch_version(">=", "2.13"):  #> 2.13.0..
    pass
A = compare_versions("torch", "<", "2.11")  #> ..2.11.0
B = compare_versions("torchvision", "<", "0.26")
C = compare_version("torch", operator.ge, "2.12.0", use_base_version=True)  #> 2.12.0..
D = RequirementCache("torch>=2.11")  #> 2.11.0..
E = pytorch_after(2, 12, 1)  #> 2.12.1..
F = required_torch_version(min_version=2.10)  #> 2.1.0.. dead-true CF209
G = required_torch_version(min_version=2.9, max_version="2.13.0")  #> 2.9.0..2.14.0 live CF203
require_version("torch>=2.7")  #> 2.7.0.. dead-true
require_version("tokenizers>=0.20")
if _TORCH_GREATER_EQUAL_2_11:  #> 2.11.0..
    pass
if WITH_PT25 and TORCH_2_9:  #> 2.5.0.. dead-true; 2.9.0..
    pass
if is_torch_greater_or_equal_than_2_6:  #> 2.6.0.. dead-true
    pass
H = is_torch_greater_or_equal("2.12", accept_dev=True)  #> 2.12.0..
I = is_torch_equal("2.12.0") or is_torch_equal_or_newer("2.14.0")  #> 2.12.0..2.12.1; 2.14.0..
J = check_version("torch", "<2.12,>=2.9")  #> 2.9.0..2.12.0
K = check_version("0.31.0", "0.30")
