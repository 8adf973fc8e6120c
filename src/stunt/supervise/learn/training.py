"""Training a pre-condition: a support vector machine chosen by cross-validation, judged on held-out tries."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stunt.errors import StuntError
from stunt.supervise.learn.samples import Samples
from stunt.supervise.learn.svm import SupportVectors

HELD_OUT = 0.25
"""Share of the tries that training never sees."""
FEWEST = 20  # successes and failures each, below which nothing can be learned
_FOLDS = 5
_C = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_GAMMA = (0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True)
class Judgement:
    """How good a machine is on tries it has not seen."""

    accuracy: float  #: Share judged right
    balanced: float  #: Mean of the shares of successes and of failures judged right
    successes: float  #: Share of successes judged right
    failures: float  #: Share of failures judged right
    count: int  #: How many tries
    guess: float  #: Accuracy of always saying what is more frequent


def train(samples: Samples, *, seed: int = 0) -> tuple[SupportVectors, Judgement]:
    """Train on three quarters of the tries, and judge on the rest.

    Both outcomes count alike in training, however rare one is (`class_weight="balanced"`); width and softness are
    chosen by five-fold cross-validation on the mean of plain and balanced accuracy: the first alone would guess what
    is frequent, the second alone gives many frequent cases away for a few rare ones.

    Args:
        samples: What tries showed.
        seed: Which tries are held out, and the folds.

    Raises:
        StuntError: scikit-learn is not there, or hardly any try succeeded (or failed).
    """
    try:
        from sklearn.model_selection import train_test_split
    except ImportError:
        raise StuntError("learning needs scikit-learn: pip install 'stunt[learn]'.") from None
    x, y = samples.features, samples.success
    if min(int(y.sum()), int((~y).sum())) < FEWEST:
        raise StuntError(
            f"{int(y.sum())} of {len(y)} tries succeeded; to learn, at least {FEWEST} must succeed and {FEWEST} fail."
        )
    parts = train_test_split(x, y, test_size=HELD_OUT, stratify=y, random_state=seed)
    found, chosen = _fitted(parts[0], parts[2], seed)
    judgement = judge(found, parts[1], parts[3])
    about = {
        "controller": samples.plan.controller, "body": samples.body, "data": samples.digest, "tries": len(y),
        "features": samples.names, "seed": samples.seed, "held_out": vars(judgement), **chosen,
        "strength": samples.plan.strength, "made_on": samples.plan.body, "starts": list(samples.plan.practice.starts),
        "success": samples.plan.practice.success, "sampled": [list(one) for one in samples.plan.practice.sampled],
        "blown_up": samples.blown_up, "scikit-learn": importlib.metadata.version("scikit-learn"),
    }  # fmt: skip
    return replace(found, about=about), judgement


def judge(machine: SupportVectors, features: np.ndarray, success: np.ndarray) -> Judgement:
    """Judge a machine on tries."""
    said = machine.margin(features) > 0.0
    right = said == success
    successes, failures = float(right[success].mean()), float(right[~success].mean())
    guess = float(max(success.mean(), 1.0 - success.mean()))
    return Judgement(float(right.mean()), 0.5 * (successes + failures), successes, failures, len(success), guess)


def _fitted(x: np.ndarray, y: np.ndarray, seed: int) -> tuple[SupportVectors, dict[str, Any]]:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    pipeline = make_pipeline(StandardScaler(), SVC(kernel="rbf", class_weight="balanced"))
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    grid = {"svc__C": _C, "svc__gamma": _GAMMA}
    search = GridSearchCV(pipeline, grid, scoring=_both_ways, cv=folds).fit(x, y)
    best = search.best_estimator_
    scaler, svc = best[0], best[1]
    slope, offset = _platt(best, x, y, folds)
    machine = SupportVectors(
        scaler.mean_, np.where(scaler.scale_ > 0, scaler.scale_, 1.0), svc.support_vectors_, svc.dual_coef_[0],
        float(svc.intercept_[0]), float(search.best_params_["svc__gamma"]), slope, offset, {},
    )  # fmt: skip
    chosen = {"C": float(search.best_params_["svc__C"]), "cross_validated": float(search.best_score_)}
    return machine, chosen


def _both_ways(model: Any, x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of plain and balanced accuracy."""
    right = np.asarray(model.predict(x) == y)
    return float(0.5 * right.mean() + 0.25 * (right[y].mean() + right[~y].mean()))


def _platt(best: Any, x: np.ndarray, y: np.ndarray, folds: Any) -> tuple[float, float]:
    """Return slope and offset that make probabilities of margins, from margins of tries not trained on."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    margins = cross_val_predict(best, x, y, cv=folds, method="decision_function")
    fit = LogisticRegression(C=1e3).fit(margins[:, None], y)
    return max(float(fit.coef_[0, 0]), 1e-3), float(fit.intercept_[0])
