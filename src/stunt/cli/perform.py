"""`stunt perform`: play a script, write the take, say how it went."""

from __future__ import annotations

import argparse
import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from stunt.cli.interrupts import Interrupts, noted_interrupts
from stunt.cli.options import offer
from stunt.cli.take_files import (
    TAKE,
    check_writable,
    claimed_folder,
    draw_pictures,
    full_report,
    write_certificate,
    write_take,
)
from stunt.cli.terminal import progress_bar, say, screen, speaks_unicode, waiting, write
from stunt.control.loop.run import run as compiled_loop
from stunt.drive.beats.spec import Coupling, Script
from stunt.errors import BlowUpError, Place, ScriptFileError, StuntError
from stunt.examples import beside, example, example_names
from stunt.keys import key_of
from stunt.record.beat_table import beat_table
from stunt.record.journal import Journal
from stunt.record.report import report_text
from stunt.record.take import Take, doubted
from stunt.record.take_folder import CERTIFICATE, CRASH, REPORT, Claim
from stunt.schema import Section, node_from_plain, whole
from stunt.script.file import load_script
from stunt.script.performance import Performance
from stunt.stage.loop import SPEED_LIMIT, StageLoop
from stunt.stage.scene import RATE_KEYS, Scene, read_rates

COUPLINGS = ("full", "compensated", "composite", "local", "constant")
_COMMAND_LINE = "the command line"
CERTIFY_HELP = "keep everything that is written into the engine, and write a certificate of what moved the bodies"
DIFFERENT = 1
"""Exit code where a performance differs from the take it is compared with."""
MOST_CHANGES = 24
"""So many changes of who was in charge are printed after a performance; `stunt show` prints all."""


@dataclass(frozen=True)
class CommandOutcome:
    """What came of a performance."""

    take: Take  #: What was performed, to its end or until it was stopped
    report: dict[str, Any]  #: The report on it
    blow_up: BlowUpError | None = None  #: What stopped it, if it blew up
    crash: Take | None = None  #: The last second of states, if it blew up


def add_perform_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt perform`."""
    add = parser.add_argument
    add("script", metavar="SCRIPT|EXAMPLE", help="a .yaml file, or the name of an example (see 'stunt examples')")
    add("--out", metavar="DIR", help="where the take goes (default: takes/NAME; with --json: nowhere)")
    add("--json", action="store_true", help="print the report as JSON, and nothing else")
    add("--rate", type=float, metavar="HZ", help="physics and control rate")
    for name in ("physics_hz", "control_hz", "seed"):
        offer(parser, Scene, name, help=f"{key_of(Scene, name).help} (default: the script's)")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for names in")
    add("--coupling", choices=COUPLINGS, metavar="LEVEL", help=f"compare with another law: {', '.join(COUPLINGS)}")
    add("--certify", action="store_true", help=CERTIFY_HELP)
    add("--verify", metavar="TAKE", help="say where this differs from a take of the same script; writes nothing")
    add("--quiet", action="store_true", help="print errors only")
    add("--no-pictures", action="store_true", help="write no filmstrip and no plots")


def perform(args: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit code: 0, or 130 if the user stopped it.

    Raises:
        StuntError: A mistake in the script or the arguments; nothing was written.
        BlowUpError: The simulation blew up; what was performed is written.
    """
    path = find_script(args.script)
    script = with_options(load_script(path, clips=args.clips), args)
    if args.verify is not None:
        return verify(rehearse(script, args.coupling), args)
    return show_performance(rehearse(script, args.coupling, certify=args.certify), path, args)


def verify(performance: Performance, args: argparse.Namespace) -> int:
    """Play a script, and say where it differs from a take of it. Returns 0 where it is the same bits, else 1."""
    from stunt.record.departure import departure, other_machine

    before = Take.load(args.verify)
    warm_up(performance.stage)
    with noted_interrupts() as interrupts:
        now = play(performance, interrupts, quiet=args.quiet).take
    interrupts.check()
    with doubted(before):
        found, differences = departure(before, now), other_machine(before, now)
    if found is None:
        write(f"{args.verify}: the same bits, {before.time.size} frames.\n")
        return 0
    write(f"{args.verify}: {found}\n")
    for sentence in differences or ["the machines say the same of themselves."]:
        write(f"  {sentence}\n")
    return DIFFERENT


def show_performance(performance: Performance, path: Path, args: argparse.Namespace) -> int:
    """Play a performance, write its take, say how it went; `path` names it. Returns the exit code."""
    folder = _folder(args, path)
    with contextlib.ExitStack() as stack:
        claim = None
        if folder is not None:
            check_writable(folder)
            claim = stack.enter_context(claimed_folder(folder, quiet=args.quiet))
        with waiting("getting ready (the first time on a machine takes some ten seconds)", quiet=args.quiet):
            warm_up(performance.stage)
        return _perform(performance, folder, claim, args)


def _perform(performance: Performance, folder: Path | None, claim: Claim | None, args: argparse.Namespace) -> int:
    written = None
    # From the first step until the take is written: whoever presses Ctrl-C, even twice, gets what was performed.
    with noted_interrupts() as interrupts:
        outcome = play(performance, interrupts, quiet=args.quiet, journal=None if claim is None else claim.journal)
        if folder is not None:
            written = write_take(folder, outcome.take, outcome.report, crash=outcome.crash, claim=claim)
    _show(outcome, args)
    if outcome.blow_up is not None:
        raise _with_crash_file(outcome.blow_up, folder)
    if performance.interrupted:
        so_far = f"the take so far is in {written}" if written else "the report is of what was performed so far"
        say("", f"interrupted at {outcome.take.seconds:.2f} s of {performance.seconds:.2f} s; {so_far}")
        return interrupts.exit_code
    interrupts.check()
    if folder is not None:
        _finish(folder, outcome.take, args)
    return 0


def rehearse(script: Script, coupling: str | None, *, certify: bool = False) -> Performance:
    """Make the performance, under another law where one is asked for: `constant` gains are tuned for the first pose."""
    if coupling is not None and coupling != "constant":
        level = cast(Coupling, coupling)
        script = replace(script, parts={name: replace(p, coupling=level) for name, p in script.parts.items()})
    performance = Performance(script, certify=certify)
    if coupling == "constant":
        peer = beside("papers.p0.constant_pd")
        peer.recast(performance, peer.tune(script))
    return performance


def find_script(name: str) -> Path:
    """Return the file of a script or an example.

    Raises:
        ScriptFileError: It looks like a path, and there is no such file.
        UnknownExampleError: It is neither a file nor an example.
    """
    looks_like_path = os.sep in name or Path(name).suffix.lower() in (".yaml", ".yml")
    if not looks_like_path and name.lower() in example_names():
        return example(name).path
    if os.path.exists(name):
        return Path(name)
    if looks_like_path:
        known = Path(name).stem.lower() in example_names()
        hint = f" There is an example '{Path(name).stem.lower()}': name it without '.yaml'." if known else ""
        raise ScriptFileError(f"there is no such file.{hint}", Place(name))
    return example(name).path


def with_options(script: Script, args: argparse.Namespace) -> Script:
    """Return the script with the rates and the seed of the command line, under the same rules as in a script."""
    rates = (args.physics_hz, args.control_hz)
    if args.rate is not None and rates != (None, None):
        other = "--physics-hz" if args.physics_hz is not None else "--control-hz"
        raise StuntError(f"--rate sets both rates, so it cannot be given together with {other}.")
    physics, control = _rates(script.scene, args)
    seed = script.scene.seed if args.seed is None else args.seed
    seed = _section(seed=seed).read("seed", whole, 0, least=0, most=2**32 - 1)
    return replace(script, scene=replace(script.scene, physics_hz=physics, control_hz=control, seed=seed))


def _rates(scene: Scene, args: argparse.Namespace) -> tuple[float, float]:
    if args.rate is not None:
        return read_rates(_section(rate=args.rate))
    if args.physics_hz is None and args.control_hz is None:
        return scene.physics_hz, scene.control_hz
    physics = scene.physics_hz if args.physics_hz is None else args.physics_hz
    control = scene.control_hz if args.control_hz is None else args.control_hz
    return read_rates(_section(physics_hz=physics, control_hz=control))


def _section(**values: float) -> Section:
    return Section(node_from_plain(values, _COMMAND_LINE), _COMMAND_LINE, (*RATE_KEYS, "seed"))


def play(
    performance: Performance, interrupts: Interrupts, *, quiet: bool, journal: Journal | None = None
) -> CommandOutcome:
    """Play a performance to its end, until Ctrl-C, or until it blows up; write it down in a journal meanwhile."""
    title = performance.script.title or Path(performance.script.source).stem
    blow_up = crash = None
    if journal is not None:
        journal.follow(performance.stage, performance.recorder, performance.told)
    with progress_bar(title, performance.seconds, quiet=quiet) as show:

        def progress(time: float) -> None:
            show(time)
            if journal is not None:
                journal.keep_up()
            interrupts.check()  # here, between two chunks, stopping leaves a take of whole frames

        try:
            take = performance.run(progress)
        except BlowUpError as error:
            performance.warnings.append(str(error))
            take, blow_up, crash = performance.take(), error, performance.black_box()
    if journal is not None:
        journal.append()  # to the last frame: who is killed while the take is reviewed and packed has it all
    report = full_report(take, wall_seconds=performance.wall_seconds)
    return CommandOutcome(take, report, blow_up, crash)


def warm_up(stage: StageLoop) -> None:
    """Have the inner loop compiled before the clock starts; takes no step."""
    stage.advance(0)
    compiled_loop(
        stage.model._address, stage.data._address, stage.board.table, stage.tick, 0, stage.steps_per_control,
        stage.step_time, SPEED_LIMIT,
    )  # fmt: skip


def _folder(args: argparse.Namespace, script: Path) -> Path | None:
    """Return where the take goes; None where it is not kept."""
    if args.out is not None:
        return Path(args.out)
    return None if args.json else Path("takes") / script.stem


def _show(outcome: CommandOutcome, args: argparse.Namespace) -> None:
    if args.json:
        write(report_text(outcome.report, ascii_only=not speaks_unicode()))
    elif not args.quiet:
        screen().print(beat_table(outcome.report, most=MOST_CHANGES))
        if panel := outcome.report["review"]:
            write(f"review: {panel['told']}\n")
        # Why it stopped before its end is said at the very end.
        for sentence in outcome.report["warnings"]:
            if sentence != str(outcome.blow_up) and not sentence.startswith("interrupted at "):
                say("warning", sentence)


def _finish(folder: Path, take: Take, args: argparse.Namespace) -> None:
    names = [TAKE, REPORT]
    if args.certify:
        with waiting("playing it again for its certificate", quiet=args.quiet):
            verdict = write_certificate(folder, take)["verdict"]
        names.append(CERTIFICATE)
        if not args.quiet and not args.json:
            say("", verdict)
    if not args.no_pictures:
        with waiting("drawing", quiet=args.quiet):
            names += [path.name for path in draw_pictures(folder, take)]
    if not args.quiet and not args.json:
        write(f"{folder}: {', '.join(names)}\n")


def _with_crash_file(error: BlowUpError, folder: Path | None) -> BlowUpError:
    crash_file = None if folder is None else str(folder / CRASH)
    return BlowUpError(error.body, error.time, error.detail, crash_file)
