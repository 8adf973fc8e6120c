"""Studio's web viewer, reachable from this machine only.

As it comes, the viewer listens on every interface, without a password. Here the address is fixed before the socket is
bound, checked before anyone can connect, and checked again once it runs; if any of this does not hold, nothing is
served.
"""

from __future__ import annotations

import ipaddress
import queue
import socket
from typing import Any

from mujoco.studio import web_viewer

from stunt.errors import StuntError

LOOPBACK = "127.0.0.1"


class ExposedServerError(StuntError):
    """The page would have been reachable from other machines; it was not started."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"the live page would listen on '{address}' instead of {LOOPBACK}, so it was not started. "
            "This version of MuJoCo Studio works differently from the one Stunt was tested with."
        )


class LoopbackViewer(web_viewer.WebViewer):  # type: ignore[misc]
    """A web viewer bound to 127.0.0.1."""

    _checked = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self._checked:  # The viewer no longer starts its server through `_start_server`.
            self.close()
            raise ExposedServerError("an unknown address")

    @property
    def _host(self) -> str:
        return LOOPBACK

    @_host.setter
    def _host(self, value: str) -> None:
        """Ignore the address the viewer's constructor asks for (all interfaces)."""

    def _start_server(self) -> None:
        """Start serving, but only on sockets bound to this machine alone. They are not listening yet."""
        for bound in (self._http_sock, self._tcp_sock):
            require_loopback(bound)
        self._checked = True
        super()._start_server()

    def get_drop_file(self) -> str:
        """Throw away files dropped on the page: a take is shown, not edited."""
        try:
            while True:
                self._drop_queue.get_nowait()
        except queue.Empty:
            return ""


def require_loopback(bound: socket.socket) -> None:
    """Check that a bound socket cannot be reached from outside; close it and raise if it can.

    Raises:
        ExposedServerError: The socket is bound to anything but a loopback address.
    """
    address = str(bound.getsockname()[0])
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        bound.close()
        raise ExposedServerError(address)
