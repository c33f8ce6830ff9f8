"""Settings that turn a part of the compiler off, under the name that a culprit gets. Pure."""

from __future__ import annotations

from dataclasses import dataclass

INDUCTOR = "torch._inductor.config."
FUNCTORCH = "torch._functorch.config."
DYNAMO = "torch._dynamo.config."


@dataclass(frozen=True)
class Setting:
    """One setting without which a part of the compiler does not act."""

    key: str
    """``subsystem/name`` as a culprit has it."""

    name: str
    value: object

    @property
    def told(self) -> dict[str, object]:
        """What the switch ``settings`` is told."""
        return {self.name: self.value}


NUMERICS = (
    Setting("config/emulate_precision_casts", f"{INDUCTOR}emulate_precision_casts", True),
    Setting("config/fallback_random", f"{INDUCTOR}fallback_random", True),
)
SCHEDULER = (
    Setting("scheduler/buffer_reuse", f"{INDUCTOR}allow_buffer_reuse", False),
    Setting("scheduler/inplace_buffers", f"{INDUCTOR}inplace_buffers", False),
    Setting("scheduler/loop_ordering_after_fusion", f"{INDUCTOR}loop_ordering_after_fusion", False),
    Setting("scheduler/reorder_for_peak_memory", f"{INDUCTOR}reorder_for_peak_memory", False),
    Setting("scheduler/epilogue_fusion", f"{INDUCTOR}epilogue_fusion", False),
    Setting("scheduler/memory_planning", f"{INDUCTOR}memory_planning", False),
    Setting("scheduler/prologue_fusion", f"{INDUCTOR}prologue_fusion", False),
    Setting("scheduler/graph_partition", f"{INDUCTOR}graph_partition", False),
    Setting("codegen/tensor_descriptor", f"{INDUCTOR}triton.use_tensor_descriptor", False),
    Setting("codegen/block_pointer", f"{INDUCTOR}triton.use_block_ptr", False),
    Setting("codegen/cooperative_reductions", f"{INDUCTOR}triton.cooperative_reductions", False),
    Setting("codegen/persistent_reductions", f"{INDUCTOR}triton.persistent_reductions", False),
    Setting("codegen/coalesce_tiling", f"{INDUCTOR}triton.coalesce_tiling_analysis", False),
    Setting("codegen/combo_kernels", f"{INDUCTOR}combo_kernels", False),
    Setting("codegen/mix_order_reduction", f"{INDUCTOR}triton.mix_order_reduction", False),
    Setting("codegen/multi_kernel", f"{INDUCTOR}triton.multi_kernel", 0),
)
"""How operations are put into kernels, and kernels and buffers in order."""
CODEGEN = (
    Setting("codegen/vectorization", f"{INDUCTOR}cpp.simdlen", 1),
    Setting("codegen/tiling", f"{INDUCTOR}cpp.enable_tiling_heuristics", False),
    Setting("codegen/loop_tail_vec", f"{INDUCTOR}cpp.enable_loop_tail_vec", False),
    Setting("codegen/floating_point_contract", f"{INDUCTOR}cpp.enable_floating_point_contract_flag", "off"),
    Setting("codegen/check_bounds", f"{INDUCTOR}assert_indirect_indexing", False),
    Setting("codegen/size_asserts", f"{INDUCTOR}size_asserts", False),
    Setting("lowerings/split_reductions", f"{INDUCTOR}split_reductions", False),
)
LAYOUT = (
    Setting("config/layout_optimization", f"{INDUCTOR}layout_optimization", False),
    Setting("config/comprehensive_padding", f"{INDUCTOR}comprehensive_padding", False),
    Setting("joint_graph_passes/constant_folding", f"{INDUCTOR}joint_graph_constant_folding", False),
)
PARTITIONER = (
    Setting("config/cse", f"{FUNCTORCH}cse", False),
    Setting("partitioner/activation_memory_budget", f"{FUNCTORCH}activation_memory_budget", 1.0),
    Setting("partitioner/recompute_views", f"{FUNCTORCH}recompute_views", False),
    Setting("partitioner/aggressive_recomputation", f"{FUNCTORCH}aggressive_recomputation", False),
    Setting("aot_autograd/donated_buffer", f"{FUNCTORCH}donated_buffer", False),
)
AOT = (
    Setting("aot_autograd/view_replay", f"{FUNCTORCH}view_replay_for_aliased_outputs", False),
    Setting("aot_autograd/functionalize_rng", f"{FUNCTORCH}functionalize_rng_ops", False),
    Setting("aot_autograd/guess_tangent_strides", f"{FUNCTORCH}guess_tangent_strides_as_outputs", False),
    Setting("aot_autograd/backward_pass_autocast", f"{FUNCTORCH}backward_pass_autocast", "off"),
)
CACHES = (
    Setting("caches/autograd_cache", f"{FUNCTORCH}enable_autograd_cache", False),
    Setting("caches/fx_graph_cache", f"{INDUCTOR}fx_graph_cache", False),
)
"""Off in every probe, unless the program asks for them."""
GUARDS = (
    Setting("guards/hooks", f"{DYNAMO}skip_nnmodule_hook_guards", False),
    Setting("guards/dict_tags", f"{DYNAMO}skip_tensor_guards_with_matching_dict_tags", False),
    Setting("guards/recursive_dict_tags", f"{DYNAMO}use_recursive_dict_tags_for_guards", False),
    Setting("guards/nn_modules", f"{DYNAMO}guard_nn_modules_using_dict_tags", False),
    Setting("guards/parameter_aliasing", f"{DYNAMO}skip_no_tensor_aliasing_guards_on_parameters", False),
    Setting("guards/function_defaults", f"{DYNAMO}skip_guards_on_constant_func_defaults", False),
    Setting("guards/class_attribute", f"{DYNAMO}assume_dunder_attributes_remain_unchanged", False),
    Setting("guards/cpp_guard_manager", f"{DYNAMO}enable_cpp_guard_manager", False),
)
DYNAMIC = (
    Setting("dynamic_shapes/automatic", f"{DYNAMO}automatic_dynamic_shapes", False),
    Setting("dynamo/inline_nn_modules", f"{DYNAMO}inline_inbuilt_nn_modules", False),
    Setting("dynamo/trace_numpy", f"{DYNAMO}trace_numpy", False),
    Setting("dynamo/specialize_float", f"{DYNAMO}specialize_float", True),
    Setting("dynamo/fake_tensor_cache", f"{DYNAMO}fake_tensor_cache_enabled", False),
    Setting("dynamo/replay_side_effects", f"{DYNAMO}replay_side_effects", False),
)

ALL = (*NUMERICS, *SCHEDULER, *CODEGEN, *LAYOUT, *PARTITIONER, *AOT, *CACHES, *GUARDS, *DYNAMIC)
