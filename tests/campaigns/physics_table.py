"""The mutants of `make mutants`: by file, what is replaced by what, and the tests of its room that are tried first.

A sign, a dropped term, a gain times two, a limit missing, a transition that loses momentum, a meter that counts wrong.
`tests/test_mutants.py` says where a snippet no longer stands in its file exactly once.
"""
# ruff: noqa: E501 - snippets stand as they do in their files

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "stunt"
Changes = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str  #: Below `src/stunt`
    name: str  #: What is wrong with it
    old: str
    new: str
    tests: tuple[str, ...]  #: Tried first

    def path(self, root: Path) -> Path:
        """Return its file in a copy of the repository."""
        return root / "src" / "stunt" / self.file

    @property
    def room(self) -> str:
        """The folder of tests of its room."""
        return f"tests/{self.file.partition('/')[0]}"

    @cached_property
    def interpreted(self) -> bool:
        """Whether its tests are run by the interpreter: laws of compiled files, not long performances."""
        compiled = "stunt.maths.compiled import" in (SOURCE / self.file).read_text("utf-8")
        return compiled and all(test.startswith("tests/control/") for test in self.tests)

    def applied(self, text: str) -> str:
        """Return the file's text with the change.

        Raises:
            ValueError: The snippet is not there exactly once.
        """
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.file}: '{self.name}' changes a snippet that is there {count} times: {self.old!r}")
        return text.replace(self.old, self.new)


ADAPTIVE = ("tests/control/test_adaptive.py",)
BEAT = ("tests/control/test_beat.py",)
SPRINGS = ("tests/control/test_springs.py",)
FULL = ("tests/control/test_springs.py", "tests/control/test_kernel.py")
CUT = (
    "tests/control/test_springs.py::test_a_spring_that_was_cut_for_a_step_is_itself_in_the_next_though_control_has_not_looked_again",
    "tests/control/test_strength.py::test_a_struck_spring_gives_its_strength_and_is_a_spring_again_when_it_is_less",
    "tests/control/test_servo.py",
)
IMPACT = ("tests/control/test_impact_law.py",)
TENSION = ("tests/control/test_antagonist.py", "tests/control/test_tension_law.py")
SERVO = ("tests/control/test_servo_law.py", "tests/control/test_servo.py")
SPRING = ("tests/control/test_servo_law.py", "tests/control/test_weak_spring.py")
OWN = tuple(
    f"tests/control/test_own_law.py::{name}"
    for name in (
        "test_the_programme_weighs_what_it_says_it_weighs[walking-0.01]",
        "test_torques_contact_forces_and_accelerations_obey_newton_and_their_limits[walking-0.01]",
        "test_joints_come_to_rest_before_their_stops",
        "test_a_recovery_step_goes_from_here_to_there_lifted_at_the_speed_it_says",
    )
)
RECOVERY = ("tests/drive/own/test_own_feet.py::test_who_stands_catches_a_push_by_a_step",)
BALANCE = ("tests/drive/balance/test_capture.py", "tests/drive/balance/test_ankles.py")
REACTIONS = ("tests/drive/body/test_reactions.py",)
TRANSITIONS = ("tests/drive/body/test_transition_laws.py",)
DRIVERS = ("tests/drive/test_driver_laws.py",)
REFLEXES = ("tests/supervise/reflexes/test_reflex_laws.py",)
METERS = ("tests/record/test_meters.py",)
PROOF = ("tests/check/test_accounts.py",)
REVIEW = ("tests/review/test_measure_laws.py",)
YIELDING = ("tests/drive/response/test_yielding.py",)
STRINGS = ("tests/drive/test_marker_strings.py",)
SHOWN = ("tests/script/test_preview_truth.py",)

ROOMS: tuple[tuple[str, tuple[str, ...], Changes], ...] = (
    ("control/adaptive/law.py", ADAPTIVE, (
        ("the reference model is damped twice as much", "-2.0 * ratio * lam]]", "-4.0 * ratio * lam]]"),
        ("the model ignores the desired acceleration", "xd + h * (vd + 0.5 * h * ad)", "xd + h * vd"),
        ("adaptation is driven by the error alone", "return lam * lam * e + lam * de", "return lam * lam * e"),
        ("adaptation pushes the wrong way", "return lam * lam * e + lam * de", "return -lam * lam * e + lam * de"),
        ("gains that grew past their bound do not leak", "change -= share * LEAK", "change -= 0.0 * LEAK"),
        ("gains are not forgotten", "change = push - share * forgetting * gain", "change = push"),
        ("integrals go on at the torque limit", "    if not frozen:\n        share, square", "    if True:\n        share, square"),
        ("the regressor is not normalised", "outside(y, lam) / norm", "outside(y, lam)"),
        ("no dead zone", "zone = DEAD_ZONE * lam * lam", "zone = 0.0 * lam * lam"),
        ("the constant gain learns without bound in a period", "min(CONSTANT_ALPHA * share, CONSTANT_MOST) * y", "CONSTANT_ALPHA * share * y"),
    )),
    ("control/adaptive/kernel.py", ADAPTIVE, (
        ("a joint at its limit still learns", "frozen = v.saturated[i] != 0 and v.torque[i] * y > 0.0", "frozen = False"),
        ("the model's acceleration is not fed forward", "moment * ((later_rate - vm) * often + learned)", "moment * learned"),
        ("a joint's damping is doubled", "(2.0 + BETA) * moment * lam\n", "2.0 * (2.0 + BETA) * moment * lam\n"),
        ("the spring does not lead by the damper's drag", "v.rest[q], v.stiffness[i], v.damping[i] = xr + vr * LEAD * slow,", "v.rest[q], v.stiffness[i], v.damping[i] = xr,"),
        ("a site's Jacobian has a sign wrong", "out[nv + i] = v.cdof[6 * i + 4] + w2 * r0 - w0 * r2", "out[nv + i] = v.cdof[6 * i + 4] - w2 * r0 + w0 * r2"),
        ("a string has no limit", "scale = min(1.0, site.limit / size) if size > 0.0 else 1.0", "scale = 1.0"),
        ("a site's damper is missing", "return (k * (e + h * de) + d * de)", "return (k * (e + h * de))"),
        ("a string's impulse is counted twice", "site.impulse += h * scale * size", "site.impulse += 2.0 * h * scale * size"),
    )),
    ("control/adaptive/turns.py", ADAPTIVE, (
        ("a site's spin is taken backwards", "change[0] = 2.0 * (w * i + x * e", "change[0] = -2.0 * (w * i + x * e"),
        ("a ball joint's spin is not turned into its parent's frame", "s.rate[0], s.rate[1], s.rate[2] = rotated(a, b, c, d, v.qvel[i], v.qvel[i + 1], v.qvel[i + 2])", "s.rate[0], s.rate[1], s.rate[2] = v.qvel[i], v.qvel[i + 1], v.qvel[i + 2]"),
        ("what a ball joint learned is pushed in its parent's frame", "x, y, z = rotated(a, -b, -c, -d, s.learned[0], s.learned[1], s.learned[2])", "x, y, z = s.learned[0], s.learned[1], s.learned[2]"),
        ("a ball joint's model is not fed forward", "v.feed_forward[i], v.feed_forward[i + 1] = v.moment[i] * x, v.moment[i + 1] * y", "v.feed_forward[i], v.feed_forward[i + 1] = 0.0, 0.0"),
        ("a ball joint at its limit still learns", "stop = frozen or s.held[k] * y > 0.0", "stop = frozen"),
        ("a ball joint's spring does not lead by its drag", "spin * (LEAD / lam - back)", "spin * (0.0 - back)"),
        ("a ball joint's spring aims at the period's end", "spin * (LEAD / lam - back)", "spin * LEAD / lam"),
        ("a ball joint is half as damped", "v.damping[i + k] = (2.0 + BETA) * moment * lam", "v.damping[i + k] = (1.0 + 0.5 * BETA) * moment * lam"),
        ("a ball joint scales by its lightest axis", "moment = max(v.moment[i]", "moment = min(v.moment[i]"),
        ("a turn's model ignores the path's acceleration", "row.model_spin[k] = wd + h * ad + rate", "row.model_spin[k] = wd + rate"),
        ("errors of turns are not squared up", "row.turn_squares += off", "row.turn_squares = off"),
    )),
    ("control/beat/law.py", BEAT, (
        ("the pull is half as damped", "2.0 * w * error_rate) / (1.0", "w * error_rate) / (1.0"),
        ("the moving reference runs ahead", "reference = goal - goal_velocity * time_left", "reference = goal + goal_velocity * time_left"),
        ("least effort forgets the velocity to arrive with", "r = (goal_velocity - velocity) / period", "r = (0.0 - velocity) / period"),
    )),
    ("control/core/full_coupling.py", FULL, (
        ("gravity and Coriolis forces are not carried", "torque += v.felt_bias[i] - v.passive[i] + h * own * v.qvel[i]", "torque += 0.0"),
        ("what nobody drives is taken as fixed", "if v.counts.full < v.sizes.njnt:", "if v.counts.full < 0:"),
        ("M is multiplied by its lower half only", "out[j] += values[k] * x[i]", "out[j] += 0.0"),
    )),
    ("control/core/springs.py", SPRINGS, (
        ("a spring's damping is halved", "v.stiffness[i], v.damping[i] = moment * rate * rate, 2.0 * moment * rate", "v.stiffness[i], v.damping[i] = moment * rate * rate, moment * rate"),
        ("least effort brakes too little", "4.0 * v.moment[i] / left", "2.0 * v.moment[i] / left"),
        ("composite inertia loses its coupling", "return turning + coupling + mass", "return turning + mass"),
        ("a link's own inertia lacks its offset", "return moment + v.body_mass[body] * (c0 * c0 + c1 * c1 + c2 * c2)", "return moment"),
    )),
    ("control/core/strength.py", CUT, (
        ("a spring over its strength is not cut", "v.limit[vadr] / math.sqrt(square)", "1.0"),
        ("a step taken again sets out from where it ended", "    mj_setState(model, data, address(v.kept_state), STEP_STATE)\n", ""),
        ("the servo takes no step again", "return v.counts.cut + v.counts.again > 0", "return v.counts.cut > 0"),
        ("a spring that was cut stays cut", "engage_spring(v, j, ndof, v.uncut_scale[vadr])", "engage_spring(v, j, ndof, 0.0)"),
    )),
    ("control/core/kernel.py", SPRINGS, (
        ("inboard joints impose nothing on children", "v.product[i] = v.moment[i] * imposed", "v.product[i] = 0.0"),
        ("a spring's arrival velocity is not fed forward", "push = v.damping[i] * (v.error_rate[i] + v.qvel[i])", "push = 0.0"),
        ("strength is metered by one axis of a ball joint", "if v.jnt_type[j] == BALL:\n            square", "if v.jnt_type[j] == SLIDE:\n            square"),
        ("a joint that carries is scaled by its own limb", "v.moment[i] = whole - spatial_moment(v, body, i) + v.dof_armature[i]", "v.moment[i] = spatial_moment(v, body, i) + v.dof_armature[i]"),
    )),
    ("control/impact/law.py", IMPACT, (
        ("friction pushes along the slide", "t1, t2 = -mu * normal * u1, -mu * normal * u2", "t1, t2 = mu * normal * u1, mu * normal * u2"),
        ("an impact without friction", "moved = max(moved, rub(a, n, i, mu[i], r, c))", "moved = max(moved, press(a, n, i, r, c))"),
        ("restitution gives e of the energy, not e²", "stored + e[i] * e[i] * done", "stored + e[i] * done"),
        ("contacts may pull", "wanted = max(0.0, r[p] - c[p] / a[p * n + p])", "wanted = r[p] - c[p] / a[p * n + p]"),
        ("restitution is not braked by friction", "mu[i] * r[3 * i], r, spare))", "0.0 * r[3 * i], r, spare))"),
    )),
    ("control/impact/kernel.py", IMPACT, (
        ("both bodies of a contact count alike", "2.0 * side - 1.0, number", "1.0, number"),
        ("impacts change velocities by half", "v.qvel[i] += total[p] * solved[p * nv + i]", "v.qvel[i] += 0.5 * total[p] * solved[p * nv + i]"),
        ("what lies is struck at every step", "if away < _NEAR * _NEAR:\n                return False", "if away < _NEAR * _NEAR:\n                return True"),
    )),
    ("control/tension/law.py", TENSION, (
        ("gains hold against the load the wrong way", "return (tension * (high - angle) + force) / span", "return (tension * (high - angle) - force) / span"),
        ("a transition's time is not warped", "return math.expm1(warp * u) / math.expm1(warp)", "return u"),
        ("damping is twice critical", "return 2.0 * ratio * math.sqrt", "return 4.0 * ratio * math.sqrt"),
    )),
    ("control/core/loads.py", ("tests/control/test_loads.py",), (
        ("a load's torque has a sign wrong", "m0, m1, m2 = r1 * f2 - r2 * f1,", "m0, m1, m2 = r1 * f2 + r2 * f1,"),
        ("what is carried has half its inertia", "v.felt_inertia[k] += mass *", "v.felt_inertia[k] += 0.5 * mass *"),
    )),
    ("control/tension/kernel.py", TENSION, (
        ("gravity is felt twice", "return turn + mass * (cdof", "return turn + 2.0 * mass * (cdof"),
        ("springs are read for the step's beginning", "ahead = time + v.times.period", "ahead = time"),
        ("a ball joint does not lean against its load", "f = -1.0 / tension if", "f = 0.0 / tension if"),
        ("a handed-over torque does not fade", "fade = 1.0 - s * s * (3.0 - 2.0 * s)", "fade = 1.0"),
        ("a joint handed over jumps to its new torque", "start[i], jump[i] = time, jump[i] - now", "start[i], jump[i] = time, 0.0"),
        ("balance does not shift the ankles", "angle = along(row.angle0, row.angle1, p) + row.shift", "angle = along(row.angle0, row.angle1, p)"),
    )),
    ("control/servo/kernel.py", SERVO, (
        ("bones are not damped against the clip's spin", "x[6 * b + 3 + k] = rate * wanted - relative", "x[6 * b + 3 + k] = -relative"),
        ("the wanted spin is not turned into the world", "wanted = xmat[r] * spin[0] + xmat[r + 1] * spin[1] + xmat[r + 2] * spin[2]", "wanted = spin[k]"),
        ("a bone's stiffness is implicit by half", "stiff[b] = total[b] = gain * (h * k2[b] + h * h * k1[b])", "stiff[b] = total[b] = 0.5 * gain * (h * k2[b] + h * h * k1[b])"),
    )),
    ("control/servo/torques.py", SERVO, (
        ("outer bones do not react on inner joints", "force[3 * parent[b] + k] += force[3 * b + k]", "force[3 * parent[b] + k] += 0.0"),
        ("the bone's spring has twice its gain", "gain * (k1[b] * u[6 * b + k] + k2[b]", "gain * (2.0 * k1[b] * u[6 * b + k] + k2[b]"),
        ("joints are reported without the step's motion", "torque[d] = joint[d] - weight[b] * back", "torque[d] = joint[d]"),
    )),
    ("control/servo/strength.py", SERVO, (
        ("joints know no strength", "            weight[b] = max(_LEAST, weight[b] * max(share**power, min(_DROP, share)))", "            weight[b] = weight[b]"),
        ("weights never recover", "weight[b] = min(1.0, weight[b] * min(max(room, 1.0), _GROW))", "weight[b] = weight[b]"),
    )),
    ("control/servo/beat.py", SERVO, (
        ("the beat servo's damping is halved", "v.stiffness[d], v.damping[d] = pull * rate, 2.0 * pull", "v.stiffness[d], v.damping[d] = pull * rate, pull"),
    )),
    ("control/servo/law.py", SERVO, (
        ("a stunned body is strong again at once", "return min(1.0, low + (1.0 - low) * max(since - down - hold, 0.0) / max(up, 1e-9))", "return 1.0"),
        ("what hangs on a bone does not count", "max(own + carried,", "max(own,"),
    )),
    ("control/servo/root_spring.py", SPRING, (
        ("the weak spring pulls the heading too", "        for orientation in (now, before, after):\n", "        for orientation in (before, after):\n"),
        ("the weak spring has no limit", "share = min(1.0, who.torque_limit / across) if", "share = 1.0 if"),
        ("it is as strong in the air", "air = 1.0 if touching else who.air", "air = 1.0"),
        ("the root's damper is missing", "k1 * (error[k] - h * spin) + k2 * (wanted[k] - spin)", "k1 * (error[k] - h * spin)"),
        ("a broken spring never mends", "    if who.needed < who.mend_torque:\n        who.snapped = 0\n    elif", "    if"),
        ("the root's force pulls away from the path", "rate * rate * (here - qpos[q + k])", "rate * rate * (qpos[q + k] - here)"),
        ("help is metered without its force", "who.force_sum += force", "who.force_sum += 0.0"),
        ("a body in its motion's own flight counts as lost", "if who.touching != 0.0 or who.adrift > 0.0 or who.snapped != 0:", "if True:"),
    )),
    ("control/servo/steering.py", SPRING, (
        ("legs steer away from the path", "rate * (air * keep * off_y / tall", "rate * (-air * keep * off_y / tall"),
        ("standing legs do not come back", "(1.0 - air) * STANDING", "(1.0 - air) * 1e9"),
    )),
    ("control/own/programme.py", OWN, (
        ("contact forces do not push the root", "total += root[i, k] * forces[k, j]", "total -= root[i, k] * forces[k, j]"),
        ("gravity is not in the root's acceleration", "total -= root[i, k] * t.bias[k]", "total -= 0.0 * t.bias[k]"),
        ("friction is a box of twice the grip", "return 0.5 * sign * grip", "return 1.0 * sign * grip"),
        ("the centre of mass is not damped", "goal += gains.k_com_d * (t.middle[3 + k] + who.com_pace[k] - t.com_velocity[root + k]) + who.com_push[k]", "goal += who.com_push[k]"),
        ("the centre of mass is pushed away", "goal += gains.k_com_p * (t.middle[k] + who.com_off[k] - t.com[root + k])", "goal -= gains.k_com_p * (t.middle[k] + who.com_off[k] - t.com[root + k])"),
        ("angular momentum has a sign wrong", "(u * edge(s, b, grip) - z * edge(s, a, grip)) * unit", "(u * edge(s, b, grip) + z * edge(s, a, grip)) * unit"),
        ("carrying points may drift", "goal -= gains.k_anchor**2 * (t.where[3 * p + k] - who.anchor[2 * point + k])", "goal -= 0.0"),
        ("torques know no strength", "t.upper[size + j], t.lower[size + j] = most - still, -most - still", "t.upper[size + j], t.lower[size + j] = 1.0e6, -1.0e6"),
        ("the ground may pull", "t.lower[i] = -_ENDLESS if i < joints else 0.0", "t.lower[i] = -_ENDLESS if i < joints else -1.0e3"),
        ("joints lean on their stops", "t.upper[i] = min(max(stop * (high - _NEAR_STOP - q) - brake, -gains.hardest), _ENDLESS)", "t.upper[i] = _ENDLESS"),
        ("a foot is turned twice about the axis it is to be spared", "angular[k, d] -= (1.0 - w.ROLL) * axis[k] * about", "angular[k, d] += (1.0 - w.ROLL) * axis[k] * about"),
        ("a foot's spin is not spared", "t.foot[o + k] -= (1.0 - w.ROLL) * axis[k] * spin", "t.foot[o + k] -= 0.0"),
        ("joints are half as damped", "pull = rate * rate * t.error[d] + 2.0 * rate *", "pull = rate * rate * t.error[d] + rate *"),
        ("limbs that are to be loose are as stiff as the others", "goal = t.urge[d] + t.share[first + d] * pull", "goal = t.urge[d] + pull"),
    )),
    ("control/own/steps.py", OWN, (
        ("the capture point lags behind the weight", "now = t.com[root + k] + t.com_velocity[root + k] / omega", "now = t.com[root + k] - t.com_velocity[root + k] / omega"),
    )),
    ("control/own/recovery.py", OWN, (
        ("a recovery step's foot is not lifted", "out[o + 2] += high * math.sin(math.pi * x) ** 2", "out[o + 2] += 0.0"),
        ("a recovery step goes backwards", "way = who.step_to[3 * i + k] - who.step_from[3 * i + k]", "way = who.step_from[3 * i + k] - who.step_to[3 * i + k]"),
    )),
    ("control/own/recovery.py", RECOVERY, (
        ("nobody takes a recovery step", "    begin_step(t, who, gains, first, last, omega)\n\n", "    return\n\n"),
    )),
    ("drive/balance/capture.py", BALANCE, (
        ("the capture point lags behind the weight", "com[:2] + velocity[:2] / pendulum_rate(com, floor)", "com[:2] - velocity[:2] / pendulum_rate(com, floor)"),
        ("pressure is centred without its weights", "(before * centre + force * data.contact.pos[k]) / total", "0.5 * (centre + data.contact.pos[k])"),
    )),
    ("drive/balance/ankles.py", BALANCE, (
        ("balance leans with the sway", "shift = -(ANKLE[0] * off @ forward + ANKLE[1] * speed @ forward)", "shift = (ANKLE[0] * off @ forward + ANKLE[1] * speed @ forward)"),
        ("balance has no velocity term", "+ ANKLE[1] * speed @ forward)", "+ 0.0 * speed @ forward)"),
        ("balance has no limit", "np.clip(shift, -MOST, MOST)", "shift"),
    )),
    ("drive/body/reactions.py", REACTIONS, (
        ("a hard hit weakens as little as a light one", "low = 1.0 - 0.8 * (weights - limits.stun) / (limits.limp - limits.stun)", "low = 1.0"),
        ("fists feel a blow as much as heads", "weights *= HARDY_SHARE", "weights *= 1.0"),
        ("nothing is too hard to stay up", "if weights >= (limits.stun if frail else limits.limp) and not person:", "if weights >= 1e9:"),
    )),
    ("drive/body/actor.py", TRANSITIONS, (
        ("data is left without its velocity", "            self.stage.data.qfrc_applied[self.slices[1]] = 0.0\n        self.program.owed", "            self.stage.data.qvel[self.slices[1]] = 0.0\n        self.program.owed"),
        ("a response never comes back to the clip", "turns[first:] = blended(self.stage.model, self._pose_rows(), 0.0, rest, delta).turns", "turns[first:] = self._pose_rows().turns[0]"),
        ("a change of motion is not placed where the body is", "at = place_between(np.concatenate([rows.path[first], rows.turns[first, 0]]), self.here)", "at = NOWHERE"),
        ("forces take over in one large step", "self.stage.refine(min(max(math.ceil(fastest * self.stage.step_time / PART), 1), MOST_PARTS))", "self.stage.refine(1)"),
    )),
    ("drive/prepare/feed_forward.py", DRIVERS, (
        ("the ground pushes down on a foreseen motion", "need = need - sizes @ pushes", "need = need + sizes @ pushes"),
        ("a foreseen motion takes no acceleration", "data.qvel[:], data.qacc[:] = speed, rate", "data.qvel[:], data.qacc[:] = speed, 0.0 * rate"),
    )),
    ("drive/tension/external_torques.py", DRIVERS, (
        ("gravity lifts", "force = -bias", "force = bias"),
        ("what is carried lifts", "force += np.asarray(jacobian.T @ (load.mass * model.opt.gravity))", "force -= np.asarray(jacobian.T @ (load.mass * model.opt.gravity))"),
    )),
    ("drive/tension/performer.py", DRIVERS, (
        ("the time warp of a pose is ignored", 'row["warp"], row["knots"] = curve.warp, len', 'row["warp"], row["knots"] = 0.0, len'),
    )),
    ("drive/beats/performer.py", DRIVERS, (
        ("a beat between two steps is measured at the first", "mujoco.mj_integratePos(stage.model, qpos, step, share)", "mujoco.mj_integratePos(stage.model, qpos, step, 0.0)"),
    )),
    ("control/strings/kernel.py", STRINGS, (
        ("strings push away", "v.pull[i] += t.x[3 * s + k]", "v.pull[i] -= t.x[3 * s + k]"),
        ("strings are fastened at sites, not where markers are", "row + 1] * string.offset[1] + t.xmat[row + 2] * string.offset[2]", "row + 1] * 0.0 + t.xmat[row + 2] * 0.0"),
        ("the ground pulls feet down", "sign = 1.0 if t.geom_body[contact.geom[1]] == body else -1.0", "sign = -1.0 if t.geom_body[contact.geom[1]] == body else 1.0"),
        ("what strings pull together is counted as what they pull", "who.pulled_net += h * math.sqrt(x * x + y * y + z * z)", "who.pulled_net += h * total"),
        ("no joint asks for help", "        again = True\n", "        again = False\n"),
    )),
    ("drive/response/yielding.py", YIELDING, (
        ("gravity is forgotten in how softly a limb is held", "np.maximum(stiff - gravity, LEAST * stiff)", "np.maximum(stiff, LEAST * stiff)"),
        ("a limb that gives is hardly damped", "2.0 * np.sqrt(self.moments * (stiff + gravity))", "0.5 * np.sqrt(self.moments * (stiff + gravity))"),
        ("the steps a spring takes are not played", "keep, pull, push = inverse @ self.inertia, -step", "keep, pull, push = inverse @ self.inertia, -0.5 * step"),
        ("a limb is held too softly", "return float(np.exp(0.5 * (low + high)))", "return float(np.exp(0.5 * (low + high))) * 1.5"),
        ("whoever strikes gives way", "toward = -float(speed[3:]", "toward = float(speed[3:]"),
    )),
    ("drive/markers/fit.py", STRINGS, (
        ("a marker's offset does not turn with its bone", 'return np.asarray(places + np.einsum("mij,mj->mi", turns, offsets))', "return np.asarray(places + offsets)"),
        ("limbs are led into each other", "yield way @ (other - self._jacobian)", "yield way @ (self._jacobian - other)"),
        ("soles go into the floor", "_SUNK - float(there[corner, 2]), sure", "float(there[corner, 2]) - _SUNK, sure"),
    )),
    ("drive/paths/shown.py", SHOWN, (
        ("a previewed root goes on by one coordinate", "width = {FREE: 7, BALL: 4}.get(", "width = {BALL: 4}.get("),
        ("a body under markers is previewed where it stood", "for joint in [*moved, *([character.root] if character.root is not None else [])]:", "for joint in moved:"),
    )),
    ("supervise/reflexes/fall.py", REFLEXES, (
        ("a push-off is straying while it lasts", "for late in _SINCE)", "for late in (0.0, LATE))"),
        ("a fall is stiff", "BRACED = 0.5", "BRACED = 5.0"),
        ("arms never reach for the ground", "            lifted = self._hand_out(felt, lifted, side)", "            pass"),
        ("hands reach where it does not fall to", "shoulder[:2] + 0.28 * self._toward", "shoulder[:2] - 0.28 * self._toward"),
        ("a fall to the side bends the wrong way", "-30.0 * side * way * sign_of(s)", "30.0 * side * way * sign_of(s)"),
        ("a fall is heard of too late", "return felt.tilt > tipping or (out_of_reach(felt) > beyond and felt.height < 0.95)", "return felt.tilt > 2.0 * tipping"),
    )),
    ("supervise/reflexes/stumble.py", REFLEXES, (
        ("steps go where the weight does not", "catching_step(soles, felt.capture, felt.rate,", "catching_step(soles, 2.0 * felt.com[:2] - felt.capture, felt.rate,"),
        ("a foot swings backwards", "ease * (self._to - self._from)", "ease * (self._from - self._to)"),
        ("feet are not lifted", "LIFT * math.sin(math.pi * share)", "0.0"),
        ("a stumble is helped more than standing", "else min(self.spring, self.drive.actor.root.limit)", "else self.spring"),
    )),
    ("supervise/reflexes/balance.py", REFLEXES, (
        ("swaying does not count as unrest", "if float(np.linalg.norm(felt.velocity)) > 0.15:", "if float(np.linalg.norm(felt.velocity)) > 15.0:"),
    )),
    ("supervise/reflexes/posture.py", REFLEXES, (
        ("the pelvis leans with the capture point", "between - 0.6 * (felt.capture - between) - back", "between + 0.6 * (felt.capture - between) - back"),
    )),
    ("supervise/reflexes/base.py", REFLEXES, (
        ("targets jump to what is wanted", "share = 1.0 - np.exp(-passed / max(wanted.quickness, 1e-3))", "share = 1.0"),
        ("no bone is too fast", "reach = wanted.fastest * passed if passed > 0.0 else 0.0", "reach = np.inf"),
    )),
    ("supervise/reflexes/senses.py", REFLEXES, (
        ("flying things know no gravity", "return np.asarray(position + velocity * t + 0.5 * gravity * t**2)", "return np.asarray(position + velocity * t)"),
        ("left and right are swapped", "flat = np.array([c * point[0] + s * point[1], -s * point[0] + c * point[1]])", "flat = np.array([c * point[0] + s * point[1], s * point[0] - c * point[1]])"),
    )),
    ("supervise/reflexes/get_up.py", REFLEXES, (
        ("getting up begins anywhere", "far = 2.0 * tilt + 2.0 * height + bend + np.where(_enterable(motion), 0.0, 1e3)", "far = bend"),
        ("who lies has got up", "if _height(now) > 0.85 and now.tilt < 0.5:", "if True:"),
    )),
    ("supervise/reflexes/reel.py", REFLEXES, (
        ("nobody reels", "if weights < (self.head if hit.body in HEAD else self.trunk) or felt.height < 0.7:", "if True:"),
    )),
    ("record/effort.py", METERS, (
        ("effort is of one axis", "np.linalg.norm(take.torque[1:, joint.dof : joint.dof + joint.width], axis=1)", "np.abs(take.torque[1:, joint.dof])"),
        ("what is undone is taken off the work", "power = np.abs(take.torque[1:, dofs] * take.qvel[1:, dofs]).sum(axis=1)", "power = (take.torque[1:, dofs] * take.qvel[1:, dofs]).sum(axis=1)"),
    )),
    ("record/incidents.py", METERS, (
        ("a fall is measured from the vertical of the world's start", "own_up = rotations.rotate(rotations.conjugate(stood), up)", "own_up = up"),
        ("help is counted along the ground only", "pull = np.linalg.norm(take.assistance[1:, number, :3], axis=1)", "pull = np.linalg.norm(take.assistance[1:, number, :2], axis=1)"),
        ("timing is between frames a straight line", "s * (1 - s) ** 2 * step * velocity[frame]", "0.0 * step * velocity[frame]"),
    )),
    ("record/proof/replay.py", PROOF, (
        ("contacts are taken off the wrong way", "sign = 1.0 if second else -1.0", "sign = -1.0 if second else 1.0"),
        ("contacts have no lever in the accounts", "(np.cross(point - data.xpos[body], force) + twist)", "twist"),
        ("help is not summed up", "account.impulse += self._step * np.array([force, twist])", "account.impulse += 0.0 * np.array([force, twist])"),
        ("a joint's strength is asked of one axis", "float(np.linalg.norm(torque[joint.dof : joint.dof + joint.width])) / joint.strength", "abs(float(torque[joint.dof])) / joint.strength"),
        ("a push beside the centre of mass declares no turn", "np.cross(lever, force)])", "0.0 * lever])"),
    )),
    ("drive/body/measures.py", TRANSITIONS, (
        ("a bone's error is half of what it is", "error = np.degrees(2.0 * np.arccos(dots))[:, led]", "error = np.degrees(np.arccos(dots))[:, led]"),
        ("drift is along one axis", "drift = np.linalg.norm(own[:, :2] - path[:, :2], axis=1)", "drift = np.abs(own[:, 0] - path[:, 0])"),
    )),
    ("review/measures/forces.py", REVIEW, (
        ("support forgets the change of pace", "- mass * float(pace[end - 1] - pace[first])", "- 0.0 * float(pace[end - 1] - pace[first])"),
        ("contacts count whichever way they push", "signed = np.where(second[:, None], force, -force)", "signed = force"),
    )),
    ("review/measures/feet.py", REVIEW, (
        ("feet slide along one axis only", "way = float(np.hypot(*(ball[stop] - ball[start])[:2]))", "way = abs(float(ball[stop][0] - ball[start][0]))"),
        ("hovering is not seen", "hovers += [(max(gap[k], 0.0),", "hovers += [(0.0,"),
    )),
    ("review/measures/limbs.py", REVIEW, (
        ("turns are half of what they are", "dots = np.abs((one * other).sum(axis=-1)).clip(0.0, 1.0)\n    return np.asarray(np.degrees(2.0 *", "dots = np.abs((one * other).sum(axis=-1)).clip(0.0, 1.0)\n    return np.asarray(np.degrees(1.0 *"),
    )),
    ("character/creature.py", ("tests/motion/test_creature_body.py",), (
        ("legs carry a twentieth of the weight", "HOLD * 0.5 * float(", "HOLD * 0.05 * float("),
    )),
    ("search/manners.py", ("tests/search/test_manners.py",), (
        ("who is turned clockwise is not turned", "not abs(heading) <= HEADING_DEG", "not heading <= HEADING_DEG"),
    )),
    ("review/measures/gait.py", REVIEW, (
        ("thighs swing the other way", "forward = np.stack([across[:, 1], -across[:, 0]], axis=1)", "forward = np.stack([-across[:, 1], across[:, 0]], axis=1)"),
    )),
    ("review/measures/falls.py", REVIEW, (
        ("the head's speed is where it lies", "pace[max(head - 3, 0) : head + 1].max()", "pace[head + 12 :].min()"),
    )),
    ("control/core/loads.py", ("tests/control/test_known_pushes.py::test_the_bias_felt_is_less_by_the_pushs_joint_torques",), (
        ("a known push is felt the wrong way", "feel_pushes(v, v.felt_bias, -1.0)", "feel_pushes(v, v.felt_bias, 1.0)"),
        ("a known push has no lever", "m0, m1, m2 = sign * v.known_push[p + 3], sign * v.known_push[p + 4], sign * v.known_push[p + 5]", "m0, m1, m2 = 0.0, 0.0, 0.0"),
    )),
    ("control/impact/kernel.py", IMPACT, (
        ("two bouncing things bounce by the mean of e", "total, said = total + own * own, said + 1", "total, said = total + own, said + 1"),
        ("restitutions of two things add up", "math.sqrt(total / said)", "math.sqrt(total)"),
    )),
    ("control/impact/law.py", IMPACT, (
        ("all contacts bounce as the first", "r[p] = s * e[p // 3] * first[p]", "r[p] = s * e[0] * first[p]"),
    )),
    ("stage/added.py", ("tests/stage/test_passive_damping.py", "tests/play/test_limbs.py", "tests/drive/test_sensors.py::test_a_site_sits_where_it_was_put_on_any_segment"), (
        ("damping is twice what was told", "np.r_[value, ", "np.r_[2.0 * value, "),
        ("a site is not turned", ", quat=site.turned", ""),
        ("a site sits at its segment's origin", "pos=site.at, ", ""),
        ("a limb's strength is squared", "actfrcrange = value * np", "actfrcrange = value * value * np"),
    )),
    ("character/bodies.py", ("tests/stage/test_passive_damping.py", "tests/play/test_limbs.py"), (
        ("a limb's ball joints keep their damping", 'for end in ("", "_")', 'for end in ("",)'),
        ("the first that speaks of a joint wins", "found |= dict.fromkeys(meant, float(value))", "found = dict.fromkeys(meant, float(value)) | found"),
    )),
    ("drive/body/servo_body.py", ("tests/play/test_limbs.py",), (
        ("a program's gains of limbs forget the settings'", "limbs.get(name, 1.0) * share.get(name, 1.0)", "share.get(name, limbs.get(name, 1.0))"),
        ("new settings keep the old gains of limbs", "any(isinstance(x, Mapping) for x in (self.settings.gain, before))", "isinstance(self.settings.gain, Mapping)"),
    )),
    ("motion/minimum_jerk.py", ("tests/motion/test_transition.py", "tests/motion/test_minimum_jerk.py"), (
        ("a path sets out with no acceleration", "speed0, 0.5 * bend0, cubic", "speed0, 0.0 * bend0, cubic"),
        ("a path forgets the velocity it arrives with", "miss_speed = speed1 - speed0 - bend0", "miss_speed = -speed0 - bend0"),
        ("velocities are per share of the way", "velocity / self.duration, acc", "velocity, acc"),
        ("a ball joint arrives with an acceleration", "np.linalg.solve(jacobian, -drift)", "np.linalg.solve(jacobian, drift)"),
        ("a ball joint arrives with the vector's rate", "rate = np.linalg.solve(jacobian, np.asarray(v1, float))", "rate = np.asarray(v1, float)"),
    )),
    ("motion/transition.py", ("tests/motion/test_transition.py",), (
        ("a curve arrives with the opposite slope", "progress[k + 1] - width * slope[k + 1] / 3.0", "progress[k + 1] + width * slope[k + 1] / 3.0"),
        ("overshoot does not", "(0.75, 1.12, 0.0)", "(0.75, 0.98, 0.0)"),
    )),
    ("motion/trajectory.py", ("tests/motion/test_trajectory.py", "tests/drive/test_ball_and_root_paths.py"), (
        ("accelerations are half of what they are", "6 * a * t + 2 * b", "3 * a * t + b"),
        ("quaternions change sides on their way", "values[1:] *= np.cumprod(turn)[:, None]", "pass"),
        ("a path has a pace after its end", "return value, np.zeros_like(value), np.zeros_like(value)", "return self.at(float(end))"),
        ("a jump comes a point late", "coefficients[:, :, 3] = values\n    return Pieces(np.append", "coefficients[1:, :, 3] = values[:-1]\n    return Pieces(np.append"),
    )),
    ("maths/rotations.py", ("tests/maths/test_rotations.py",), (
        ("a difference is in the target's past", "to_rotation_vector(multiply(conjugate(start), target))", "to_rotation_vector(multiply(target, conjugate(start)))"),
        ("angular velocity lacks its second order", "velocity = d - b * across + c * twice", "velocity = d - b * across"),
        ("angular acceleration lacks the factors' slopes", "acceleration + growth * (c_slope * twice - b_slope * across)", "acceleration"),
        ("the swing keeps the twist", "return multiply(q, conjugate(twist)), twist", "return q, twist"),
    )),
    ("stage/aim.py", ("tests/stage/test_throws.py",), (
        ("gravity takes a step less", "steps * (steps + 1) / 2", "steps * (steps - 1) / 2"),
        ("a throw forgets its lead", "(point + lead - back * direction", "(point - back * direction"),
        ("a thrown thing meets with its middle", "return max(back, 0.0)", "return 0.0"),
    )),
    ("drive/tension/stability.py", ("tests/drive/tension/test_tension.py",), (
        ("a joint's least stiffness forgets what hangs on it", "block = block + cross.T @ np.linalg.solve(rest, cross)", "pass"),
        ("a joint is tightened to half of what it needs", "= 1.001 * least", "= 0.5 * least"),
    )),
    ("drive/paths/laid_out.py", ("tests/drive/test_sensors.py", "tests/script/test_trajectories_section.py"), (
        ("relative sensors turn the site the other way", "multiply(turn.values, conjugate(turn.values[0]))", "multiply(conjugate(turn.values), turn.values[0])"),
        ("relative paths do not count from where the site is", "moved = here + values", "moved = values"),
    )),
    ("drive/paths/captured.py", ("tests/drive/test_sensors.py",), (
        ("points beside a sensor do not turn with it", "rotate(self.turns[:, n], _ARM * axis)", "_ARM * axis"),
    )),
    ("control/core/loads.py", ("tests/control/test_loads.py::test_the_bias_felt_is_that_of_a_rod_by_the_engines_jacobians",), (
        ("the gyroscopic torque of what is held has a sign wrong", "n0, n1, n2 = n0 + w1 * s[8] - w2 * s[7], n1", "n0, n1, n2 = n0 - w1 * s[8] + w2 * s[7], n1"),
        ("what is held has no centripetal force", "- s[2] * r1 + w1 * u2 - w2 * u1 - v.gravity[0]", "- s[2] * r1 - v.gravity[0]"),
    )),
    ("control/core/loads.py", ("tests/control/test_loads.py::test_the_inertia_and_bias_felt_give_the_acceleration_asked_for",), (
        ("the inertia of what is held lacks its turning", "(p0 * q0 + p1 * q1 + p2 * q2) + b0 * s[6] + b1 * s[7] + b2 * s[8]", "(p0 * q0 + p1 * q1 + p2 * q2)"),
    )),
    ("control/adaptive/turns.py", ("tests/drive/test_ball_and_root_paths.py",), (
        ("a ball joint starts without what holds it", "held / inertia if inertia > 0.0 else 0.0", "0.0 * held"),
    )),
    ("drive/response/giving.py", ("tests/drive/response/test_give.py",), (
        ("a second blow leaves a joint soft for good", "back = before.hold if before is not None else float(board.hold[joint.id])", "back = float(board.hold[joint.id])"),
        ("a blow counts half", "1.0 / blow if tick < blow", "0.5 / blow if tick < blow"),
        ("who comes inward counts as going out", "outward = float(away @ speed) / distance", "outward = -float(away @ speed) / distance"),
        ("all joints count, not those that carry what is hit", 'if j.kind != "slide" and j.dof in carrying', 'if j.kind != "slide"'),
    )),
    ("drive/response/yielding.py", YIELDING, (
        ("a limb is as stiff as ever at once after its response", "self._whole = tick + round((1.0 + AGAIN)", "self._whole = tick + round((1.0 + 0.0 * AGAIN)"),
        ("a leg may be as soft as an arm", 'if part_of(shock.body) == "leg":', "if False:"),
        ("what a body stands on does not hold it", "inertia += _GROUND * mass * moved", "inertia += 0.0 * mass * moved"),
        ("the root's help does not damp", 'damping += float(memory["root_k2"]) * across.T @ across', "damping += 0.0 * across.T @ across"),
    )),
    ("stage/shock.py", ("tests/drive/response/test_give.py",), (
        ("a push beside the centre of mass does not turn", "np.cross(np.asarray(shock.position) - data.xipos[number], way)", "0.0 * way"),
        ("a blow of any length is short", "round((self.seconds or TOUCH) / step)", "round(TOUCH / step)"),
    )),
    ("drive/balance/steps.py", ("tests/drive/balance/test_catching_step.py",), (
        ("pressure goes beyond the edge of a standing sole", "PRESSED * (spot - middles[stand])", "2.0 * PRESSED * (spot - middles[stand])"),
        ("left and right are mistaken", "1.0 if (foot == 0) == first_is_left else -1.0", "1.0 if (foot == 0) != first_is_left else -1.0"),
    )),
    ("drive/beats/predict.py", ("tests/drive/beats", "tests/drive/test_upright.py"), (
        ("a foreseen approach is not gathered", "urge *= min(1.0, (time - first + period)", "urge *= max(1.0, (time - first + period)"),
    )),
    ("drive/beats/forecast.py", ("tests/drive/beats/test_forecast.py",), (
        ("a ball joint's torque is foreseen by its largest axis", "np.linalg.norm(forces[:, j.dof : j.dof + j.nv], axis=1)", "np.abs(forces[:, j.dof : j.dof + j.nv]).max(axis=1)"),
        ("a joint is past its upper limit only", "np.maximum(joint.range[0] - angle, angle - joint.range[1])", "angle - joint.range[1]"),
    )),
    ("stage/owners.py", ("tests/drive/test_owners.py",), (
        ("hand-overs are not noted", "if before != way:", "if False:"),
        ("who takes a joint does not have it", "self._ways[name] = way", "pass"),
    )),
    ("drive/joints.py", ("tests/drive/test_owners.py",), (
        ("what others have is as the clip has it", "path[:, kept] = motion.qpos[:, kept]", "path[:] = motion.qpos"),
    )),
    ("drive/body/measures.py", ("tests/drive/test_owners.py",), (
        ("others' bones count as the clip's", "found += [body - actor.character.root_body - 1] if led[body] else []", "found += [body - actor.character.root_body - 1]"),
    )),
    ("drive/beats/performer.py", ("tests/drive/test_owners.py",), (
        ("beats whose joints were taken are still judged", "            self._drop(only)\n", ""),
    )),
)  # fmt: skip


def mutants() -> list[Mutant]:
    """Return all of them."""
    return list(_all())


def _all() -> Iterator[Mutant]:
    for file, tests, changes in ROOMS:
        for name, old, new in changes:
            yield Mutant(file, name, old, new, tests)
