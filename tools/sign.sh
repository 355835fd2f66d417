#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/sign.sh KEY CERTIFICATE PROGRAM.EFI
# Signs an EFI program in place, with sbsign and sbverify, for machines whose Secure Boot knows the certificate. Key and
# certificate are PEM. If the key has a passphrase, sbsign asks for it on the terminal.
# shellcheck disable=SC2015 # 'A && B || fail': fail does not return, and running it when B fails is meant
set -u

[ $# = 3 ] || {
    echo "usage: tools/sign.sh KEY CERTIFICATE PROGRAM.EFI" >&2
    exit 2
}
key=$1 cert=$2 program=$3

fail() {
    echo "tools/sign.sh: $1" >&2
    exit 1
}

[ -n "$key" ] && [ -n "$cert" ] ||
    fail "SIGN_KEY and SIGN_CERT go together: a private key and its certificate (docs/reference/hardware.md, section 2)"
command -v sbsign >/dev/null && command -v sbverify >/dev/null ||
    fail "no sbsign: install it (Debian: apt-get install sbsigntool; elsewhere sbsigntools), or build without SIGN_KEY"
[ -r "$key" ] || fail "SIGN_KEY=$key: cannot be read"
[ -r "$cert" ] || fail "SIGN_CERT=$cert: cannot be read"

trap 'rm -f "$program.signed"' EXIT
# What sbsign says of gaps between sections is true of every program of GNU-EFI's and harmless; OpenSSL's errors have
# their reason in the fifth field.
said=$(sbsign --key "$key" --cert "$cert" --output "$program.signed" "$program" 2>&1) ||
    fail "sbsign with SIGN_KEY=$key and SIGN_CERT=$cert: $(grep -v '^warning: ' <<<"$said" | tail -n 1 |
        sed -E 's/^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):.*/\1/')"
sbverify --cert "$cert" "$program.signed" >/dev/null 2>&1 ||
    fail "sbverify: with SIGN_CERT=$cert what SIGN_KEY=$key signs is not verified"
mv "$program.signed" "$program"
