#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/grade.sh [-b BUILD] [-d soft|hw] [-l SECONDS] [-j JOBS] DIR [N ...]
# Grades a class. Each folder of DIR is a student's copy of labs/, or of the whole tree: DIR/STUDENT/NN-name/lab.c or
# DIR/STUDENT/labs/NN-name/lab.c. Runs the labs N ... (all), JOBS at a time (1), each in a build folder and a machine of
# its own. A lab may take SECONDS (300), and no file that it makes may exceed 256 MiB. Writes DIR/grades.csv, with a
# line for each student and lab, and DIR/STUDENT/NN-name.txt, what `make lab` has printed.
# Labs 4 to 6 run the students' programs on this machine, as you: use an account, or a machine, of its own for them.
# Exit status: 0; 2 usage; 3 the solution of a lab does not pass here, so that nobody's would.
# shellcheck disable=SC2015 # 'A && B || die' also dies if B fails: meant
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=build ds=soft limit=300 jobs=1
readonly DISK=$((256 * 1024)) # KiB, of a file

die() { echo "grade.sh: $2" >&2; exit "$1"; } # status, text

while getopts b:d:l:j: option; do
    case $option in
    b) build=$OPTARG ;;
    d) ds=$OPTARG ;;
    l) limit=$OPTARG ;;
    j) jobs=$OPTARG ;;
    *) die 2 "usage: tools/grade.sh [-b BUILD] [-d soft|hw] [-l SECONDS] [-j JOBS] DIR [N ...]" ;;
    esac
done
shift $((OPTIND - 1))
case $ds in soft | hw) ;; *) die 2 "-d $ds: must be soft or hw" ;; esac
[[ $limit$jobs =~ ^[0-9]+$ ]] && [ "$jobs" -ge 1 ] || die 2 "-l and -j: must be numbers, -j at least 1"
[ $# -ge 1 ] && [ -d "$1" ] || die 2 "which folder? (usage: tools/grade.sh [options] DIR [N ...])"
class=$(cd "$1" && pwd)
shift

cd "$here" || exit 3
labs=()
[ $# != 0 ] || set -- 1 2 3 4 5 6 7 8 9 10
for number in "$@"; do
    [ ${#number} != 1 ] || number=0$number
    for file in labs/"$number"-*/lab.c; do
        [ -r "$file" ] || die 2 "there is no lab $number"
        labs+=("$(basename "$(dirname "$file")")")
    done
done

students=()
for folder in "$class"/*/; do
    student=$(basename "$folder")
    # The name becomes part of make's file names.
    [[ $student =~ ^[A-Za-z0-9._@-]+$ ]] || die 2 "folder '$student': a name may have letters, digits and . _ @ -"
    students+=("$student")
done
[ ${#students[@]} != 0 ] || die 2 "$class: there is no folder of a student in it"

# Lab, what to append to the command; prints what `make lab` does.
run() {
    local name=$1
    shift
    timeout -k 10 "$limit" make -s --no-print-directory "B=$build" lab "N=${name%%-*}" "DS=$ds" "$@" 2>&1
}

# Once with the solution: it builds what all students share, and shows that this machine runs the lab.
for name in "${labs[@]}"; do
    run "$name" SOLUTION=1 >"$class/solution.txt" ||
        { cat "$class/solution.txt"; die 3 "the solution of lab $name does not pass here: see above"; }
done
rm -f "$class/solution.txt"

grade() { # student, lab; prints the line of the table
    local student=$1 name=$2 code result hint='' start=$SECONDS said=$class/$1/$2.txt
    for code in "$class/$student/$name/lab.c" "$class/$student/labs/$name/lab.c" ''; do
        [ ! -r "$code" ] || break
    done
    if [ -z "$code" ]; then
        printf '"%s",%s,missing,0,,0\n' "$student" "$name"
        return
    fi
    (ulimit -f $DISK && run "$name" "CODE=$code" "OUT=$build/grade/$student/$name") >"$said"
    case $? in
    0) result=passed ;;
    124 | 137) result='time' ;;
    *) grep -q '^FAIL: ' "$said" && result=failed || result=error ;; # error: it does not compile, or no machine
    esac
    [ $result != failed ] || hint=$(sed -n 's/^FAIL: \([a-z0-9-]*\):.*/\1/p;T;q' "$said")
    printf '"%s",%s,%s,%s,%s,%s\n' "$student" "$name" $result "$(grep -c '^PASS: ' "$said")" "$hint" \
        $((SECONDS - start))
}

: >"$class/grades.new"
for student in "${students[@]}"; do
    for name in "${labs[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        grade "$student" "$name" >>"$class/grades.new" </dev/null &
    done
done
wait
{ echo "student,lab,result,checks_passed,hint,seconds" && LC_ALL=C sort "$class/grades.new"; } >"$class/grades.csv"
rm -f "$class/grades.new"
echo "$class/grades.csv: ${#students[@]} students, ${#labs[@]} labs, $(grep -c ',passed,' "$class/grades.csv") passed"
