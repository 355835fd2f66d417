# SPDX-License-Identifier: MIT
"""`make deps` where another apt-get holds its locks. The apt-get here is a script."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The first two updates meet a lock; the install brings what was missing.
APT_GET = """#!/bin/sh
echo "$*" >>"$PLACE/said"
case $1 in
update)
    [ "$(grep -c update "$PLACE/said")" -gt 2 ] && exit 0
    echo "$REFUSAL" >&2
    exit 100 ;;
install)
    printf '#!/bin/sh\\n' >"$PLACE/bin/frama-c"
    chmod +x "$PLACE/bin/frama-c" ;;
esac
"""
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"
MIRROR = "E: Failed to fetch http://deb.debian.org/debian"


def deps(folder, refusal):
    """Runs `tools/deps.sh prove` on a machine without Frama-C: (what it did, the commands that apt-get got)."""
    (folder / "bin").mkdir()
    for tool in ("awk", "bash", "cat", "chmod", "cut", "dirname", "env", "grep", "id", "sh", "sleep", "tr"):
        (folder / "bin" / tool).symlink_to(shutil.which(tool))
    for name, text in {"apt-get": APT_GET, "apt-cache": "#!/bin/sh\n", "sudo": '#!/bin/sh\nexec "$@"\n'}.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    done = subprocess.run([ROOT / "tools/deps.sh", "prove"], capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": f"{folder}/bin", "PLACE": str(folder), "REFUSAL": refusal})
    return done, (folder / "said").read_text().splitlines()


# Elsewhere make deps only names the packages.
pytestmark = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt-get here")


def test_waits_for_the_lock(tmp_path):
    done, said = deps(tmp_path, LOCKED)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in said] == ["update", "update", "update", "install"]
    assert "DPkg::Lock::Timeout=600" in said[-1]  # an install waits by itself


def test_gives_up_where_no_lock_is_the_reason(tmp_path):
    done, said = deps(tmp_path, MIRROR)
    assert (done.returncode, done.stderr) == (1, f"{MIRROR}\ndeps: apt-get failed\n")
    assert len(said) == 1
