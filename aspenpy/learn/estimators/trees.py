"""Boosted trees: multiple additive regression trees (Friedman's MART), learnt by scikit-learn and kept as numbers, so
that a saved model needs nothing but NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import fail
from aspenpy.learn.measurements.read import require_library
from aspenpy.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 10
SEARCHED = 1 / 3  # of the predictors, for each split of a search
Watch = Callable[[int, int], None]


class Boosting(Record):
    """Settings of boosting: number of trees, depth (interactions), learning rate, share of the rows that each tree
    sees, share of the predictors that each split chooses from."""

    trees: int = 800
    depth: int = 5
    learning_rate: float = 0.1
    subsample: float = 0.5
    features: float = 1.0

    def make_learner(self) -> Any:
        require_library("sklearn", "a model of boosted trees")
        from sklearn.ensemble import GradientBoostingRegressor

        return GradientBoostingRegressor(
            n_estimators=self.trees,
            max_depth=self.depth,
            learning_rate=self.learning_rate,
            subsample=self.subsample,
            max_features=self.features,
            random_state=0,
        )


FOREST = {
    "start": float,
    "trees": [{"left": [int], "right": [int], "feature": [int], "threshold": [float], "value": [float]}],
    "importances": [float],
}
"""The shape of what `grown` gives."""


def forest_problem(held: Mapping[str, Any], features: int) -> str | None:
    """Why nodes form no valid trees over `features` columns; None where they do. Children come after their parents, so
    that every walk from the root ends."""
    for tree in held["trees"]:
        count = len(tree["left"])
        if {len(part) for part in tree.values()} != {count} or not count:
            return "the nodes of a tree have not all the same parts"
        for index, (left, right, feature) in enumerate(zip(tree["left"], tree["right"], tree["feature"], strict=True)):
            if left >= 0 and not (index < min(left, right) <= max(left, right) < count and 0 <= feature < features):
                return "the nodes of a tree do not lead to its leaves"
    return None


def grow_trees(boosting: Boosting, matrix: NDArray[np.float64], target: NDArray[np.float64]) -> dict[str, Any]:
    """The trees as JSON holds them: of each node its children, what it asks, and its value."""
    learner = boosting.make_learner().fit(matrix, target)
    trees = []
    for (estimator,) in learner.estimators_:
        tree = estimator.tree_
        trees.append(
            {
                "left": tree.children_left.tolist(),
                "right": tree.children_right.tolist(),
                "feature": tree.feature.tolist(),
                "threshold": tree.threshold.tolist(),
                "value": (boosting.learning_rate * tree.value[:, 0, 0]).tolist(),
            }
        )
    importances = [float(value) for value in learner.feature_importances_]
    return {"start": float(target.mean()), "trees": trees, "importances": importances}


def sum_trees(held: Mapping[str, Any], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of all trees for each row. Thresholds are compared in single precision, as in training."""
    import numpy as np

    asked = matrix.astype(np.float32)
    rows = np.arange(len(asked))
    total = np.full(len(asked), held["start"], dtype=np.float64)
    for tree in held["trees"]:
        left, right, feature = (np.array(tree[name]) for name in ("left", "right", "feature"))
        threshold, value = np.array(tree["threshold"]), np.array(tree["value"])
        nodes = np.zeros(len(asked), dtype=np.int64)
        while (inner := left[nodes] >= 0).any():
            below = asked[rows[inner], feature[nodes[inner]]] <= threshold[nodes[inner]]
            nodes[inner] = np.where(below, left[nodes[inner]], right[nodes[inner]])
        total += value[nodes]
    return total


class CrossValidation(Record):
    """A setting with its mean squared error over all folds, and its mean absolute error of the runtime in percent."""

    boosting: Boosting
    squared: float
    percent: float


def search_settings(
    matrix: NDArray[np.float64],
    target: NDArray[np.float64],
    grid: Mapping[str, Sequence[Any]],
    subsample: float,
    watch: Watch | None = None,
    processes: int = 2,
) -> tuple[CrossValidation, ...]:
    """Cross-validation with ten folds over depths and learning rates, at every number of trees of the grid, the best
    first (D30: the mean over the folds decides, not the luckiest fold). Each split chooses from a third of the
    predictors, which takes half the time."""
    import numpy as np

    require_library("joblib", "a search")
    from joblib import Parallel, delayed  # comes with scikit-learn

    if len(target) < 2 * FOLDS:
        fail("too-few-rows", f"{len(target)} rows are too few for {FOLDS} folds", hint="name depth and rate instead")
    order = np.random.default_rng(0).permutation(len(target))
    folds = [order[index::FOLDS] for index in range(FOLDS)]
    settings = [
        Boosting(max(grid["trees"]), depth, rate, subsample, SEARCHED)
        for depth, rate in product(grid["depth"], grid["rate"])
    ]
    jobs = [(setting, fold) for setting in settings for fold in folds]
    worker = Parallel(n_jobs=processes, return_as="generator")
    results = []
    for done, validation in enumerate(
        worker(delayed(sum_fold_errors)(job, matrix, target, grid["trees"]) for job in jobs), 1
    ):
        results.append(validation)
        if watch is not None:
            watch(done, len(jobs))
    tried = []
    for index, setting in enumerate(settings):
        errors = np.sum(results[index * FOLDS : (index + 1) * FOLDS], axis=0) / len(target)
        for count, (squared, percent) in zip(sorted(grid["trees"]), errors, strict=True):
            tried.append(CrossValidation(setting.replace(trees=count), float(squared), float(percent)))
    return tuple(sorted(tried, key=lambda item: item.squared))


def sum_fold_errors(
    job: tuple[Boosting, NDArray[np.int64]],
    matrix: NDArray[np.float64],
    target: NDArray[np.float64],
    counts: Sequence[int],
) -> list[tuple[float, float]]:
    """Sums of squared and of percentage errors on the left-out fold, at each number of trees."""
    import numpy as np

    setting, fold = job
    rest = np.setdiff1d(np.arange(len(target)), fold)
    learner = setting.make_learner().fit(matrix[rest], target[rest])
    errors = []
    for number, guess in enumerate(learner.staged_predict(matrix[fold]), 1):
        if number in counts:
            left = guess - target[fold]
            errors.append((float(left @ left), float(100 * np.abs(np.expm1(left)).sum())))
    return errors
