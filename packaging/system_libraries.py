"""The system libraries that Qt needs on Linux: which are missing, and the one command that installs them.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import ctypes
import shutil
from dataclasses import dataclass

MANAGERS = {
    "apt-get": "sudo apt-get install -y",
    "dnf": "sudo dnf install -y",
    "pacman": "sudo pacman -S --needed --noconfirm",
    "zypper": "sudo zypper install -y",
}

# library file: package of apt, dnf, pacman, zypper
_QT = """
libEGL.so.1             libegl1               mesa-libEGL           libglvnd              Mesa-libEGL1
libGL.so.1              libgl1                mesa-libGL            libglvnd              Mesa-libGL1
libglib-2.0.so.0        libglib2.0-0          glib2                 glib2                 libglib-2_0-0
libfontconfig.so.1      libfontconfig1        fontconfig            fontconfig            fontconfig
libfreetype.so.6        libfreetype6          freetype              freetype2             libfreetype6
libdbus-1.so.3          libdbus-1-3           dbus-libs             dbus                  libdbus-1-3
libxkbcommon.so.0       libxkbcommon0         libxkbcommon          libxkbcommon          libxkbcommon0
libxkbcommon-x11.so.0   libxkbcommon-x11-0    libxkbcommon-x11      libxkbcommon-x11      libxkbcommon-x11-0
libX11-xcb.so.1         libx11-xcb1           libX11-xcb            libx11                libX11-xcb1
libxcb-cursor.so.0      libxcb-cursor0        xcb-util-cursor       xcb-util-cursor       libxcb-cursor0
libxcb-icccm.so.4       libxcb-icccm4         xcb-util-wm           xcb-util-wm           libxcb-icccm4
libxcb-image.so.0       libxcb-image0         xcb-util-image        xcb-util-image        libxcb-image0
libxcb-keysyms.so.1     libxcb-keysyms1       xcb-util-keysyms      xcb-util-keysyms      libxcb-keysyms1
libxcb-render-util.so.0 libxcb-render-util0   xcb-util-renderutil   xcb-util-renderutil   libxcb-render-util0
libxcb-randr.so.0       libxcb-randr0         libxcb                libxcb                libxcb-randr0
libxcb-render.so.0      libxcb-render0        libxcb                libxcb                libxcb-render0
libxcb-shape.so.0       libxcb-shape0         libxcb                libxcb                libxcb-shape0
libxcb-shm.so.0         libxcb-shm0           libxcb                libxcb                libxcb-shm0
libxcb-sync.so.1        libxcb-sync1          libxcb                libxcb                libxcb-sync1
libxcb-xfixes.so.0      libxcb-xfixes0        libxcb                libxcb                libxcb-xfixes0
libxcb-xinerama.so.0    libxcb-xinerama0      libxcb                libxcb                libxcb-xinerama0
libxcb-xkb.so.1         libxcb-xkb1           libxcb                libxcb                libxcb-xkb1
"""


@dataclass(frozen=True)
class Need:
    """A library file or program, and the package that holds it by package manager."""

    name: str
    packages: tuple[str, ...]  # in the order of MANAGERS

    def package(self, manager: str) -> str:
        return self.packages[list(MANAGERS).index(manager)]


def _needs(table: str) -> tuple[Need, ...]:
    rows = (line.split() for line in table.strip().splitlines())
    return tuple(Need(name, tuple(packages)) for name, *packages in rows)


QT_LIBRARIES = _needs(_QT)
XVFB = Need("xvfb-run", ("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xvfb-run"))


def missing_libraries() -> list[Need]:
    """Which of Qt's libraries the loader does not find."""
    return [need for need in QT_LIBRARIES if not _loads(need.name)]


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def manager() -> str | None:
    """This system's package manager, None when it is none of those known here."""
    return next((name for name in MANAGERS if shutil.which(name)), None)


def install_command(needs: list[Need], manager: str | None) -> str:
    """The one command that installs what is missing (names only, where the package manager is not known)."""
    if manager is None:
        return "install with your package manager: " + " ".join(need.name for need in needs)
    packages = sorted({need.package(manager) for need in needs})
    return f"{MANAGERS[manager]} {' '.join(packages)}"
