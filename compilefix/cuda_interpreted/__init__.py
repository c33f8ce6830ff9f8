"""
CUDA without a GPU: Inductor compiles for CUDA, and its kernels run on CPU storage under Triton's interpreter.

Covered: Inductor's own work for a GPU from its inner compile on (post-grad passes, lowerings, fusion, scheduling,
Triton code) and the values that the kernels compute. Not covered: what Triton makes of the code (PTX), threads that
really run side by side, TF32, autotuning, tensor-core templates, joint-graph passes (they see CPU tensors), and ATen's
CUDA kernels, in whose place the CPU's run.
"""
