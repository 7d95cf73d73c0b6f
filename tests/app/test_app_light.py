"""The window comes up without the heavy packages, and stays without them when the library is open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "transformers", "llama_cpp", "onnxruntime", "faiss", "pypdfium2")
SCRIPT = """
import json, sys, time
from pathlib import Path
import app.main
stages = {"import": sorted(sys.modules)}
application = app.main.application()
window = app.main.make_window(application, Path(sys.argv[1]))
window.show()
application.processEvents()
stages["shown"] = sorted(sys.modules)
cpu = time.process_time()
until = time.monotonic() + 20
while window.context is None and time.monotonic() < until:
    application.processEvents()
    time.sleep(0.01)
assert window.context is not None
stages["open"] = sorted(sys.modules)
window.close()
print(json.dumps({"cpu": cpu, "stages": stages}))
"""


def test_window_is_light(tmp_path: Path) -> None:
    env = os.environ | {"QT_QPA_PLATFORM": "offscreen", "WHYMATCH_HOME": str(tmp_path / "home")}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "library")],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(done.stdout.splitlines()[-1])
    for stage, modules in report["stages"].items():
        assert not set(HEAVY) & {name.partition(".")[0] for name in modules}, stage
    for stage in ("import", "shown"):
        assert not {"numpy", "sqlite_utils"} & set(report["stages"][stage]), stage
    assert report["cpu"] < 1.0  # seconds of processor time until the window is there
