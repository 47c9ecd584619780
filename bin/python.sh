# Sourced by the commands beside it: where the project is, which Python makes its environment, and how steps are run
# so that a signal ends the step and not only this shell.

project="$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="$project/.venv/bin/python"

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# The first interpreter that really runs and is new enough; PYTHON overrides the search.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.11 python3.12 python3.13 python3.14 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed and was not found (found: $(python3 --version 2>&1 || true)). Install it, or name it: PYTHON=/path/to/python3.11 $0"
}

# Brings .venv up to the given requirements files; returns at once where nothing changed.
install_requirements() {
    local base
    base="$(find_python)" || exit 1
    step "$base" "$project/bin/environment.py" "$@"
}

step_pid=

# Runs one command in a way that SIGTERM and Ctrl-C end it, too: bash alone would wait for it or leave it behind.
step() {
    "$@" <&0 &
    step_pid=$!
    local status=0
    wait "$step_pid" || status=$?
    step_pid=
    return "$status"
}

stop_step() {
    trap - INT TERM
    if [ -n "$step_pid" ]; then
        kill -TERM "$step_pid" 2>/dev/null || true
        wait "$step_pid" 2>/dev/null || true
    fi
    exit "$1"
}

trap 'stop_step 130' INT
trap 'stop_step 143' TERM
