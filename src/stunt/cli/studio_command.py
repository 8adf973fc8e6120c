"""`stunt studio`: direct a performance by eye and hand, on a page of this machine."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import logging
import socket
import sys
import webbrowser
from pathlib import Path

from stunt.cli.terminal import say, write
from stunt.errors import InvalidValueError, StuntError

LOOPBACK = "127.0.0.1"
_FIRST_PORT, _PORTS = 8090, 50


def add_studio_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt studio`."""
    add = parser.add_argument
    add("what", nargs="?", default="ymca", metavar="SCRIPT|EXAMPLE|CLIP", help="what to open (default: ymca)")
    add("--no-browser", action="store_true", help="only print the page's address")
    add("--port", type=int, default=0, metavar="N", help="the page's port (default: a free one)")
    add("--host", default=LOOPBACK, metavar="ADDRESS", help="listen on another address; others can then reach the page")
    add("--stay", action="store_true", help="go on when the last page is closed")
    add("--mujoco", action="store_true", help="open the stage in MuJoCo Studio instead")


def studio(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.mujoco:
        return _mujoco(args)
    try:
        from stunt.studio.openings import open_anything
        from stunt.studio.security import new_token
        from stunt.studio.server import Server
        from stunt.studio.session import Session
    except ModuleNotFoundError as error:
        raise StuntError(f"the studio needs its extra ({error.name}): pip install 'stunt[studio]'.") from None
    if not 0 <= args.port <= 65535:
        raise InvalidValueError("port", args.port, "between 0 and 65535")
    _warn(args.host)
    document, beside = open_anything(args.what, Path.cwd())
    _log_to_terminal()
    port, token = args.port or _free_port(args.host), new_token()
    url = f"http://{args.host}:{port}/{token}/"

    async def run() -> None:
        server = Server(Session(document, beside, Path.cwd()), token, args.host, port, stay=args.stay)
        await server.serve(lambda: _announce(url, args))
        _farewell(server.session.document)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
    return 0


def _announce(url: str, args: argparse.Namespace) -> None:
    write(f"the studio is open at {url}\n")
    sys.stdout.flush()
    if not args.no_browser:
        webbrowser.open(url)


def _farewell(document: object) -> None:
    from stunt.studio.paper.document import Document

    assert isinstance(document, Document)
    if document.dirty and not document.unkept:
        write(f"unsaved edits are kept in {document.autosave}; opening {document.path.name} again goes on with them\n")


def _warn(host: str) -> None:
    try:
        safe = ipaddress.ip_address(host).is_loopback
    except ValueError:
        safe = host == "localhost"
    if not safe:
        say("warning", f"the page listens on {host}: whoever sees its address can edit and write files as you can.")


def _free_port(host: str) -> int:
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return port
    raise StuntError(f"no port from {_FIRST_PORT} to {_FIRST_PORT + _PORTS} is free on {host}; choose one with --port.")


def _log_to_terminal() -> None:
    logger = logging.getLogger("stunt.studio")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("studio: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def _mujoco(args: argparse.Namespace) -> int:
    from stunt.studio.mujoco_stage import show_stage
    from stunt.studio.openings import open_anything

    document, beside = open_anything(args.what, Path.cwd())
    show_stage(document.now.text, str(beside), port=args.port, open_browser=not args.no_browser)
    return 0
