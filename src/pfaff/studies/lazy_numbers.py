"""The dataset of a Zarr store, read on demand; errors of reading are those of the store itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing


class Numbers(BackendArray):
    """An array of a store: ``read`` gives the numbers at some indices."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, read: Callable[[Any], np.ndarray]) -> None:
        self.shape, self.dtype, self._read = shape, dtype, read

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)


class Lazily(BackendEntrypoint):
    """A dataset whose variables are such arrays; xarray caches what has been read of them."""

    def open_dataset(self, given: Any, *, drop_variables: Any = None) -> xarray.Dataset:
        return given


def lazy_dataset(
    arrays: Mapping[str, tuple[tuple[str, ...], Numbers, Mapping[str, Any]]],
    coordinates: Mapping[str, Any],
    attrs: Mapping[str, Any],
) -> xarray.Dataset:
    """Arrays with their dimensions and attributes, over coordinates."""
    variables = {
        name: xarray.Variable(dims, indexing.LazilyIndexedArray(each), about)
        for name, (dims, each, about) in arrays.items()
    }
    return xarray.open_dataset(xarray.Dataset(variables, coordinates, attrs), engine=Lazily)
