#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: labs/sandbox.sh FILE... -- COMMAND ...
# Runs a command that can read the files FILE, and the system's programs and libraries, but no other file of this
# machine. It can write only to its standard output and error, and to a /tmp of its own. It has no network, sees no
# other process, and gets only LAB_SEED of the environment. Needs bubblewrap. Exit status: the command's; 3 there is no
# bubblewrap.
set -eu

command -v bwrap >/dev/null || { echo "sandbox.sh: there is no bubblewrap: run 'make deps'" >&2; exit 3; }
options=(--unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv --setenv PATH /usr/bin
    --setenv LAB_SEED "${LAB_SEED:-1}" --ro-bind /usr /usr --proc /proc --dev /dev --tmpfs /tmp)
for folder in bin lib lib64; do # links to folders of /usr, or folders
    [ -L /$folder ] && options+=(--symlink "usr/$folder" "/$folder") || options+=(--ro-bind-try "/$folder" "/$folder")
done
while [ "$1" != -- ]; do
    file=$(realpath -- "$1")
    options+=(--ro-bind "$file" "$file")
    shift
done
exec bwrap "${options[@]}" --dir "$PWD" --chdir "$PWD" "$@"
