"""The dataset of a Zarr store, read where it is looked at: what cannot be read is told as by the store itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing


class Numbers(BackendArray):
    """An array of a store: ``read`` gives what is at some indices of it."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, read: Callable[[Any], np.ndarray]) -> None:
        self.shape, self.dtype, self._read = shape, dtype, read

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)


class Lazily(BackendEntrypoint):
    """Takes a dataset whose variables are such arrays, and has xarray keep what has been read of them."""

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
