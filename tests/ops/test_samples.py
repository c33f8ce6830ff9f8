"""The samples that the hostile patterns use really are hostile."""

from __future__ import annotations

import pytest
import torch

from compilefix import ops

BASE = torch.arange(1.0, 37.0).reshape(6, 6)
TAKES_SOURCE = [n for n in ops.names() if ops.spec(n).sample.source is not None and ops.spec(n).sample.base is None]


@pytest.mark.parametrize("name", TAKES_SOURCE)
def test_a_source_overlaps_with_what_is_written(name: str) -> None:
    """Elements of the base that the op writes are among those that its source reads."""
    spec = ops.spec(name)
    assert spec.sample.source is not None
    read = spec.sample.source(torch.arange(36.0).reshape(6, 6)).flatten().int().tolist()
    source = torch.full_like(spec.sample.source(BASE), -1000.0)
    args, kwargs = spec.sample.arguments(source)
    written = (spec.upstream(BASE.clone(), *args, **kwargs) != BASE).flatten().nonzero().flatten().tolist()
    assert set(read) & set(written), (read, written)
    assert spec.sample.source(BASE).untyped_storage().data_ptr() == BASE.untyped_storage().data_ptr()


@pytest.mark.parametrize("name", [n for n in ops.names() if ops.spec(n).sample.base is None])
def test_a_result_can_be_copied_into_the_base(name: str) -> None:
    spec = ops.spec(name)
    source = spec.sample.source(BASE).clone() if spec.sample.source is not None else BASE
    args, kwargs = spec.sample.arguments(source)
    assert spec.upstream(BASE.clone(), *args, **kwargs).shape == BASE.shape
