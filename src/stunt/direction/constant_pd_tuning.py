"""Tuning constant gains for the first pose alone, as P0's figure 7 does by hand.

What is sought are the gains that are in the first pose, at rest, when its beat falls, without any joint at the limit of
its strength on the way. Without that last condition the answer would be a servo as stiff as can be: it snaps into
every pose long before the beat, at full strength, and times nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from stunt.control.beat import TIME_CONSTANTS
from stunt.control.inertia import joint_moments
from stunt.direction.beats import ResolvedBeat, resolve_beats
from stunt.direction.constant_pd import ConstantPD, Gains, gains_of
from stunt.direction.measure import state_at
from stunt.direction.performance import Performance
from stunt.direction.script import Script
