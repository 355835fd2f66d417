#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: tools/grade.sh [-b BUILD] [-d soft|hw|both] [-l SECONDS] [-j JOBS] [-o RESULTS] [-u] DIR [N ...]
# Grades a class. Each folder of DIR is a student's copy of labs/, or of the whole tree: DIR/STUDENT/NN-name/lab.c or
# DIR/STUDENT/labs/NN-name/lab.c. Runs the labs N ... (all) on the model, the processor's Debug Store, or both (-d,
# both), JOBS at a time (1), each in a build folder and a machine of its own, with a seed of its own for the check. A
# lab may take SECONDS (300) on each, no file that it makes may exceed 256 MiB, and its compiler has 4 GiB of memory.
# Labs 4 to 6 run the students' programs on this machine, in labs/sandbox.sh; -u: without it. Reads DIR, and writes to
# RESULTS (DIR.grades), which no student's code can reach:
#   grades.csv                a line for each student and lab
#   STUDENT/NN-name.txt       the seed, and what `make lab` has printed
#   STUDENT/results.json      for Gradescope: the points of each check (tools/grade_points.py)
#   STUDENT/classroom.json    the same for GitHub Classroom
# Exit status: 0; 2 usage; 3 the solution of a lab does not pass here, so that nobody's would, there is no sandbox, or
# tools/teacher/points.csv has other checks than the labs.
# shellcheck disable=SC2015 # 'A && B || die' also dies if B fails: meant
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=build ds=both limit=300 jobs=1 results='' sandbox=1
readonly DISK=$((256 * 1024)) MEMORY=$((4 * 1024 * 1024)) # KiB, of a file; of a process of the compiler
readonly SAID=$((256 * 1024))                               # bytes of the beginning, and of the end

die() { echo "grade.sh: $2" >&2; exit "$1"; } # status, text

usage="usage: tools/grade.sh [-b BUILD] [-d soft|hw|both] [-l SECONDS] [-j JOBS] [-o RESULTS] [-u] DIR [N ...]"
while getopts b:d:l:j:o:u option; do
    case $option in
    b) build=$OPTARG ;;
    d) ds=$OPTARG ;;
    l) limit=$OPTARG ;;
    j) jobs=$OPTARG ;;
    o) results=$OPTARG ;;
    u) sandbox='' ;;
    *) die 2 "$usage" ;;
    esac
done
shift $((OPTIND - 1))
case $ds in
soft | hw) backends=("$ds") ;;
both) backends=(soft hw) ;;
*) die 2 "-d $ds: must be soft, hw or both" ;;
esac
[[ $limit$jobs =~ ^[0-9]+$ ]] && [ "$jobs" -ge 1 ] || die 2 "-l and -j: must be numbers, -j at least 1"
[ $# -ge 1 ] && [ -d "$1" ] || die 2 "which folder? ($usage)"
class=$(cd "$1" && pwd -P)
results=$(realpath -m "${results:-$class.grades}")
shift
[[ $results/ != "$class"/* ]] || die 2 "-o $results: must not be in the folder of the class"

cd "$here" || exit 3
labs=()
[ $# != 0 ] || { set -- labs/*/lab.c && set -- "${@#labs/}" && set -- "${@%%-*}"; }
for number in "$@"; do
    [ ${#number} != 1 ] || number=0$number
    for file in labs/"$number"-*/lab.c; do
        [ -r "$file" ] || die 2 "there is no lab $number"
        labs+=("$(basename "$(dirname "$file")")")
        [ -e "${file%lab.c}check.c" ] || [ -z "$sandbox" ] || labs/sandbox.sh -- true 2>/dev/null ||
            die 3 "lab $number runs on this machine, and labs/sandbox.sh cannot: run 'make deps' and allow user \
namespaces, or give -u and use an account of its own"
    done
done

students=()
for folder in "$class"/*/; do
    student=$(basename "$folder")
    [[ $student =~ [[:cntrl:]\"] ]] && die 2 "folder '$student': a name may have no quotation mark or control character"
    [ -d "$folder" ] && students+=("$student")
done
[ ${#students[@]} != 0 ] || die 2 "$class: there is no folder of a student in it"

mkdir -p "$results/.solution" || die 2 "-o $results: cannot be made"

# Lab, folder, what else make is to know: builds.
compile() (
    ulimit -v $MEMORY
    timeout -k 10 "$limit" make -s --no-print-directory lab-program "B=$build" "N=${1%%-*}" "DS=$ds" "OUT=$2" \
        "${@:3}"
)

# Lab, folder, backend, seed.
run() {
    LAB_SEED=$4 LAB_TIMEOUT=$limit LAB_SANDBOX=$sandbox timeout -k 10 "$limit" labs/run.sh "labs/$1" "$2" "$build" "$3"
}

# The names of the checks that have passed, a line each.
passed_checks() { # file
    sed -n 's/^PASS: \([^:]*\): .*/\1/p' "$1"
}

# Once with the solution: it shows that this machine runs the lab, and which checks there are.
for name in "${labs[@]}"; do
    out=$build/grade/solution/$name
    for backend in "${backends[@]}"; do
        said=$results/.solution/$name.$backend
        { compile "$name" "$out" SOLUTION=1 && run "$name" "$out" "$backend" 1; } >"$said" 2>&1 ||
            { cat "$said"; die 3 "the solution of lab $name does not pass here on $backend: see above"; }
    done
done

# What a student's code has come to on a backend: prints the result, how many checks have passed, and the hint.
judge() { # what it printed, the solution's, status
    local fail passed=0
    fail=$(sed -n 's/^FAIL: \([a-z0-9-]*\):.*/\1/p;T;q' "$1")
    case $3,$fail in
    124,* | 137,* | *,time) echo "time 0" ;;
    0,) # the same checks as the solution, not fewer and not more
        if cmp -s <(passed_checks "$1") <(passed_checks "$2"); then
            echo "passed $(passed_checks "$2" | wc -l)"
        else
            echo "fake 0"
        fi
        ;;
    0,*) echo "fake 0" ;;
    4,*) echo "fake 0 truth" ;;
    *,) echo "error 0" ;; # no machine, or the check's own
    *)
        passed=$(passed_checks "$1" | wc -l)
        cmp -s <(passed_checks "$1") <(passed_checks "$2" | head -n "$passed") || passed=0
        echo "failed $passed $fail"
        ;;
    esac
}

# Copies the student's file to where make can name it: a name may have blanks. Status: 1 there is none.
find_code() { # student, lab, folder
    local file
    for file in "$class/$1/$2/lab.c" "$class/$1/labs/$2/lab.c" ''; do
        [ ! -f "$file" ] || [ ! -r "$file" ] || break # a FIFO would be waited for
    done
    [ -n "$file" ] && mkdir -p "$3" || return
    if [ "$(realpath "$file")" = "$file" ]; then
        cp "$file" "$3/lab.c"
    else
        printf '#error %s\n' "this file, or its folder, is a link to another one" >"$3/lab.c"
    fi
}

# Adds to the report what was printed, without what steers a terminal, and without the middle if it is long.
report() { # file, report
    if [ "$(stat -c %s "$1")" -le $((2 * SAID)) ]; then
        cat "$1"
    else
        head -c $SAID "$1" && printf '\n[...]\n' && tail -c $SAID "$1"
    fi | LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C sed 's/\xc2[\x80-\x9f]//g' >>"$2"
    rm "$1"
}

grade() { # number, student, lab; prints the line of the table
    local name=$3 out=$build/grade/$1/$3 said="$results/$2/$3" backend result=missing checks=0 hint='' sum=0 status
    local start=$SECONDS seed
    ulimit -f $DISK
    rm -rf "$out"
    if find_code "$2" "$name" "$out"; then
        seed=$(shuf -i 1-999999 -n 1)
        echo "make lab N=$((10#${name%%-*})) SEED=$seed" >"$said.txt"
        compile "$name" "$out" "CODE=$out/lab.c" >"$said.make" 2>&1
        status=$?
        report "$said.make" "$said.txt"
        if [ $status = 0 ]; then
            for backend in "${backends[@]}"; do
                run "$name" "$out" "$backend" "$seed" >"$said.$backend" 2>&1
                status=$?
                read -r result checks hint <<<"$(judge "$said.$backend" "$results/.solution/$name.$backend" $status)"
                report "$said.$backend" "$said.txt"
                sum=$((sum + checks))
                [ "$result" = passed ] || break
            done
        else
            result=error hint=$(sed -n 's/^refused: [^:]*: \([a-z]*\): .*/\1/p;T;q' "$said.txt")
            [ -z "$hint" ] || result=refused
        fi
    fi
    [ "$result" != fake ] || sum=0
    printf '"%s",%s,%s,%s,%s,%s\n' "$2" "$name" "$result" $sum "$hint" $((SECONDS - start))
}

rm -f "$results"/*.line
number=0
for student in "${students[@]}"; do
    mkdir -p "$results/$student"
    for name in "${labs[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        grade $number "$student" "$name" >"$results/$number.$name.line" </dev/null &
    done
    number=$((number + 1))
done
wait
table=$results/grades.csv
{ echo "student,lab,result,checks_passed,hint,seconds" && cat "$results"/*.line | LC_ALL=C sort; } >"$table"
rm -f "$results"/*.line
tools/grade_points.py "$results" || exit 3
rm -rf "$results/.solution"
echo "$table: ${#students[@]} students, ${#labs[@]} labs, $(grep -c ',passed,' "$table") passed"
