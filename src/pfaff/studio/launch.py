"""Starting a studio: its address is printed, the browser opened, and Ctrl-C ends it."""

from __future__ import annotations

import os
import re
import socket
import sys
import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from pfaff import doors
from pfaff.errors import ParameterError
from pfaff.statement.values import path_from, shown, truth, whole_number
from pfaff.studio.lines import source_of
from pfaff.studio.subject import subject_of

LOOPBACK = "127.0.0.1"
EVERYWHERE = ("", "0", "0.0.0.0", "::")
TOKEN = "PFAFF_STUDIO_TOKEN"  # in the environment: so that a page finds its server again after a restart
NEEDED = "the studio needs starlette, uvicorn and websockets: pip install 'pfaff[studio]'"
UP = 10.0  # seconds within which a server must answer


@dataclass
class Running:
    """A studio that runs in the background; ``stop()`` ends it."""

    address: str
    server: Any
    studio: Any
    thread: Thread

    @property
    def status(self) -> str:
        return f"studio of {self.studio.subject.name} at {self.address}"

    def __repr__(self) -> str:
        return f"<{self.status}>"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.studio.lanes.close()


def open_studio(
    given: Any,
    *,
    port: int = 0,
    host: str = LOOPBACK,
    browser: bool = True,
    wait: bool = True,
    store: Any = None,
    stated: str | None = None,
) -> Running | None:
    """Serve the studio of a case, a system, an ODE or an assembly until Ctrl-C; ``wait=False`` returns at once."""
    try:
        import uvicorn

    except ImportError as problem:
        raise ParameterError(NEEDED) from problem
    port = whole_number("port", port, 0, 65535, "give a free one, or 0 for any")
    if not isinstance(host, str) or host in EVERYWHERE:  # the Host of each request must be this one
        raise ParameterError(f"host={shown(host)}: give one address of this machine, such as {LOOPBACK}")
    kept = None if store is None else str(path_from("store", store).resolve())
    if kept is not None and not Path(kept).exists():
        raise ParameterError(f"no store {kept}: begin one with case.sweep(…, store=…)")
    if kept is not None:
        doors.sweep.open_sweep(kept)  # what is no study is told before anything is served
    try:
        listening = socket.create_server((host, port))
    except OSError as problem:
        raise ParameterError(f"cannot listen at {host}:{port} ({problem}): give another port, or none") from problem
    port = listening.getsockname()[1]
    hosts = (f"{host}:{port}", f"localhost:{port}") if host == LOOPBACK else (f"{host}:{port}",)
    studio = doors.server.Studio(subject_of(given, source=source_of(given, stated), store=kept), hosts, _token())
    address = f"http://{hosts[0]}/#token={studio.token}"
    config = uvicorn.Config(
        studio.app(),
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=2**18,
        ws_ping_interval=None,  # derivations may hold everything up for longer than a ping waits
        timeout_graceful_shutdown=1,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    if truth("browser", browser):
        Thread(target=_opened, args=(server, address), daemon=True).start()
    if not truth("wait", wait):
        thread = Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        _until_up(server)
        return Running(address, server, studio, thread)
    print(f"studio of {studio.subject.name}: {address}\nCtrl-C ends it", flush=True)
    try:
        server.run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        studio.lanes.close()
        print("ended", file=sys.stderr)
    return None


def _token() -> str | None:
    """A token given in the environment, if it may stand in an address and is not easily guessed."""
    given = os.environ.get(TOKEN)
    if given is not None and not re.fullmatch(r"[A-Za-z0-9_-]{16,200}", given):
        raise ParameterError(f"{TOKEN} must have 16 to 200 letters, digits, _ or -: leave it out for a random one")
    return given


def _opened(server: Any, address: str) -> None:
    _until_up(server)
    webbrowser.open(address)


def _until_up(server: Any) -> None:
    deadline = time.monotonic() + UP
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
