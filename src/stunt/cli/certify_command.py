"""`stunt certify TAKE`: play a take again with the bare engine, and write down what moved its bodies."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

NO_PASS = 1
"""Exit code where a take is certified without a pass."""


def add_certify_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt certify`."""
    add = parser.add_argument
    add("take", metavar="TAKE", help="a take.npz, or the folder it is in, performed with --certify")
    add("--json", action="store_true", help="print the certificate, and nothing else; write nothing")


def certify(args: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit code: 0 for a pass, 1 for none.

    Raises:
        TakeError: There is no such take, or it keeps nothing that could be certified.
    """
    from stunt.check.certificate import certify as certificate_of
    from stunt.cli.take_files import mend, write_certificate
    from stunt.cli.terminal import speaks_unicode, write
    from stunt.record.report import report_text
    from stunt.record.take import Take
    from stunt.record.take_folder import CERTIFICATE

    mend(Path(args.take))
    take, path = Take.load(args.take), Path(args.take)
    folder = path if path.is_dir() else path.parent
    if args.json:
        certificate = certificate_of(take)
        write(report_text(certificate, ascii_only=not speaks_unicode()))
    else:
        certificate = write_certificate(folder, take)
        write("".join(f"{line}\n" for line in lines(certificate)) + f"{folder / CERTIFICATE}\n")
    return 0 if certificate["passed"] else NO_PASS


def lines(certificate: dict[str, Any]) -> list[str]:
    """Return what a certificate says, line by line."""
    replay, found = certificate["replay"], [str(certificate["verdict"])]
    again = "the same bits" if replay["bit_for_bit"] else f"other bits from step {replay['first_difference']} on"
    found.append(f"played again by the bare engine: {certificate['steps']} steps, {again}")
    for name, body in certificate["characters"].items():
        outside, lost = body["external"], body["momentum_residual"]
        found.append(
            f"{name}: {outside['force_n']:.3g} N and {outside['torque_nm']:.3g} N·m on its root; momentum accounted "
            f"for to {lost['force_n']:.2g} N and {lost['torque_nm']:.2g} N·m"
        )
        torque, friction, deep = body["torque"], body["friction"], body["penetration"]
        found.append(
            f"  torque {torque['peak_share']:.3f} of strength at most ({torque['joint']}), "
            f"{100.0 * torque['over_share']:.2g} % of joint-steps over; friction {friction['peak_use']:.2f} used at "
            f"most, {100.0 * friction['sliding_share']:.2g} % of contacts sliding; {1e3 * deep['others_m']:.1f} mm deep"
        )
        if body["pushed_ns"]:
            found.append(f"  declared pushes: {body['pushed_ns']:.4g} N·s")
        if body["clock"] is not None:
            late = body["clock"]
            found.append(f"  clock: {late['late_s']:+.2f} s at the end, {late['most_s']:.2f} s off at most")
        found += [f"  help: it {sentence}" for sentence in body["help"]]
    return [*found, *(f"listed: {sentence}" for sentence in certificate["listed"])]
