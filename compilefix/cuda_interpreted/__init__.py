"""
CUDA without a GPU: Inductor compiles for CUDA, and its kernels run on CPU storage under Triton's interpreter.

Covered: Inductor's own work for a GPU from its inner compile on (post-grad passes, lowerings, fusion, scheduling,
Triton code), the values that the kernels compute, and what they do to memory: accesses out of bounds, conflicts between
programs and between threads of one program, reads of what nothing wrote. A launch whose programs conflict is run again
in other orders. Two writes of the same bits are benign; two writes where a loaded index says so are a note.

Not covered: what Triton makes of the code (PTX), threads that really run side by side, TF32, autotuning, tensor-core
templates, and ATen's CUDA kernels, in whose place the CPU's run. Joint-graph passes see CPU tensors; pad_mm, which
decides by timing, is answered by hand: not padded. Random numbers are those of Inductor's philox with seeds from the
CPU's generator: neither the plain program's on a CPU nor a GPU's stream, so only what does not depend on the draw can
be compared. Programs that wait for earlier ones run forward only, and conflicts between them are not judged.
"""
