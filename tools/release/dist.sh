#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Puts what a release has into BUILD/dist: the source of the commit, or of an unpacked source tarball, and what is built
# of it. All of it has the time of the commit, no owner, and the same order everywhere: two machines make the same.
#
#     tools/release/dist.sh BUILD VERSION
#
# XZ_LEVEL=0 compresses fast, for tests.
set -eu -o pipefail
build=$1 version=$2
dist=$build/dist source=cairn-$version site=cairn-site-$version
commit=$(tools/release/commit.sh --clean)

pack() { # folder, name in it: makes the tarball of that
    LC_ALL=C tar --create --format=gnu --sort=name --mtime="@${commit#* }" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX -C "$1" "$2" | xz --threads=1 "-${XZ_LEVEL:-6}" >"$dist/$2.tar.xz"
}

rm -rf "$dist" && mkdir -p "$dist"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/$source" "$tmp/$site"
if grep -q Format: tools/release/commit.txt; then
    git archive HEAD
else
    tools/release/files.sh | tar --create --files-from=-
fi | tar --extract -C "$tmp/$source"
pack "$tmp" "$source"
cp -R "$build/site/." "$tmp/$site"
pack "$tmp" "$site"
for package in cairn cairn-labs libcairn-pebs1 libcairn-pebs-dev qemu-ds; do
    cp "$build/${package}_$version"_*.deb "$dist"
done
for package in "$build/cairn-grab_$version"_*.deb; do
    [ ! -e "$package" ] || cp "$package" "$dist" # deb.sh has said so
done
cp "$build/cairn.img" "$build/cairn-stick.zip" "$build/playground.html" "$dist"
(cd "$dist" && LC_ALL=C && sha256sum -- * >SHA256SUMS)
echo "$dist: $source, commit ${commit% *}, $(du -sm --apparent-size "$dist" | cut -f 1) MiB"
