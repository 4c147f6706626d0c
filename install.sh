#!/bin/sh
# Installs ai-memory for one user: an own Python environment, one link in ~/.local/bin, nothing else.
#
#   <data home>/ai-memory-app/env-XXXXXX   one environment an install; the former one goes when the new one works
#   <data home>/ai-memory-app/current      link to the environment in use, replaced in one step
#   <data home>/ai-memory-app/made         folders around it that this script made: an uninstall takes the empty ones away
#   ~/.local/bin/ai-memory                 link to current/bin/ai-memory
#
# A run that is interrupted leaves the former installation as it was. No shell file is edited. No root is needed.
set -eu

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    for hint in "$@"; do printf '  %s\n' "$hint" >&2; done
    exit 1
}

usage() {
    cat <<'END'
Usage: sh install.sh [--extras embed|llm|all] [--keep NAME] [--uninstall] [--help]

  --extras NAME   also install optional parts: embed (local vectors), llm (model providers), all;
                  several with commas: embed,llm
  --keep NAME     leave the former environment of that name until the next run: `ai-memory upgrade` runs in it
  --uninstall     remove the program and its link; your memory stays
  --help          this text

Run from a checkout it installs that checkout, else the package `ai-memory` from the package index.
END
}

extras=
keep=
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
    --extras)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        extras=$2
        shift
        ;;
    --extras=*) extras=${1#--extras=} ;;
    --keep)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        keep=$2
        shift
        ;;
    --uninstall) uninstall=yes ;;
    -h | --help) usage; exit 0 ;;
    *)
        printf 'install.sh: unknown option: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done
case ",$extras," in
,,) ;;
*)
    rest=$extras,
    while [ -n "$rest" ]; do
        case ${rest%%,*} in
        embed | llm | all) ;;
        *)
            printf 'install.sh: --extras knows embed, llm and all, not "%s"\n' "${rest%%,*}" >&2
            exit 2
            ;;
        esac
        rest=${rest#*,}
    done
    ;;
esac

[ -n "${HOME:-}" ] || fail 'HOME is not set' 'Set it to your home folder and run this again.'
data_home=${XDG_DATA_HOME:-$HOME/.local/share}
app=$data_home/ai-memory-app
current=$app/current
bin=$HOME/.local/bin
link=$bin/ai-memory
target=$current/bin/ai-memory

# A Python that calls this script must not lend its settings to the new environment.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export PIP_DISABLE_PIP_VERSION_CHECK=1

link_is_ours() { [ -L "$link" ] && [ "$(readlink "$link")" = "$target" ]; }
link_is_foreign() { { [ -e "$link" ] || [ -L "$link" ]; } && ! link_is_ours; }

memory_dir() {
    if [ -n "${AI_MEMORY_DATA_DIR:-}" ]; then
        say "$AI_MEMORY_DATA_DIR"
    elif [ -z "${XDG_DATA_HOME:-}" ] && [ "$(uname -s)" = Darwin ]; then
        say "$HOME/Library/Application Support/ai-memory"
    else
        say "$data_home/ai-memory"
    fi
}

# The folder and those above it that are not there, the deepest first.
missing_of() {
    folder=$1
    while [ ! -d "$folder" ]; do
        say "$folder"
        folder=$(dirname "$folder")
    done
}

# The folder of the program, and the folders that were made for it and hold nothing else.
remove_app() {
    made=$(cat "$app/made" 2>/dev/null || :)
    rm -f "$app/made"
    if ! rmdir "$app" 2>/dev/null; then
        [ -z "$made" ] || say "$made" >"$app/made"
        return 1
    fi
    while IFS= read -r folder; do
        [ -z "$folder" ] || rmdir "$folder" 2>/dev/null || :
    done <<END
$made
END
}

remove() {
    if link_is_foreign; then
        say "Left alone: $link (not made by this installer)"
    elif link_is_ours; then
        rm -f "$link"
        say "Removed: $link"
    else
        say "Not there: $link"
    fi
    if [ -d "$app" ]; then
        rm -rf "$current" "$app"/env-?????? "$app/busy"
        remove_app || say "Left alone: $app (it holds files that this installer did not make)"
        [ -d "$app" ] || say "Removed: $app"
    else
        say "Not there: $app"
    fi
    memory=$(memory_dir)
    if [ -d "$memory" ]; then
        say "Your memory stays: $memory"
    else
        say "Your memory, if you kept any, stays where it is. The usual place is $memory"
    fi
    say 'Hooks that you wired do nothing while the program is gone. Take their entries out of your agents when you like.'
}

# One line names the interpreter that can make an environment, or nothing.
find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        command -v "$name" >/dev/null 2>&1 || continue
        "$name" -c '
import sys
if sys.version_info < (3, 11):
    sys.exit(1)
import ensurepip, venv
print(sys.executable)' 2>/dev/null && return 0
    done
    return 1
}

# The folder of this script, if it is a checkout of ai-memory. Read from a pipe, a script has no folder.
find_checkout() {
    case $0 in
    install.sh | */install.sh) ;;
    *) return 1 ;;
    esac
    here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || return 1
    [ -f "$here/pyproject.toml" ] && grep -q '^name = "ai-memory"$' "$here/pyproject.toml" || return 1
    say "$here"
}

if [ "$uninstall" = yes ]; then
    remove
    exit 0
fi

if link_is_foreign; then
    fail "$link exists and was not made by this installer; it stays as it is" \
        'Move it away and run this again. Nothing was changed.'
fi

if checkout=$(find_checkout); then
    source=$checkout
else
    source=ai-memory
fi
[ -z "$extras" ] || source="${source}[$extras]"

tool=
if python=$(find_python); then
    tool=venv
    say "Python: $python"
elif command -v uv >/dev/null 2>&1; then
    tool=uv
    say 'Python: none of 3.11 or newer that can make environments; uv brings one'
else
    fail 'no Python of 3.11 or newer with venv and pip was found, and no uv' \
        'Debian, Ubuntu: sudo apt install python3-venv    Fedora: sudo dnf install python3    macOS: brew install python' \
        'or install uv: https://docs.astral.sh/uv/' \
        'Nothing was changed.'
fi

made=$(missing_of "$data_home"; missing_of "$bin")
mkdir -p "$app"
[ -z "$made" ] || say "$made" >>"$app/made"
if ! mkdir "$app/busy" 2>/dev/null; then
    holder=$(cat "$app/busy/pid" 2>/dev/null || say 0)
    if [ "$holder" -gt 0 ] 2>/dev/null && kill -0 "$holder" 2>/dev/null; then
        fail "another install is running (process $holder)" 'Wait for it to end and run this again.'
    fi
fi
say $$ >"$app/busy/pid"
new=
swapped=no
clean_up() {
    [ "$swapped" = yes ] || [ -z "$new" ] || rm -rf "$new"
    rm -rf "$app/busy"
    [ -e "$current" ] || remove_app || :
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# 1. Build the new environment beside the one in use.
new=$(mktemp -d "$app/env-XXXXXX")
say "Installing $source (this takes about a minute)"
if [ "$tool" = uv ]; then
    uv venv --quiet --allow-existing --python '>=3.11' "$new"
    uv pip install --quiet --python "$new/bin/python" "$source" ||
        fail "installing $source failed" 'The message above says why. What was installed before still works.'
else
    "$python" -m venv "$new"
    "$new/bin/python" -m pip install --quiet "$source" ||
        fail "installing $source failed" 'The message above says why. What was installed before still works.'
fi

# 2. Look at it before it is used: it must start, and its hook must not compile anything at each start.
package=$("$new/bin/python" -I -c 'import os, ai_memory; print(os.path.dirname(os.path.abspath(ai_memory.__file__)))') ||
    fail "$source holds no package ai_memory" 'What was installed before still works.'
"$new/bin/python" -m compileall -q "$package" || fail 'compiling the package failed'
[ -x "$new/bin/ai-memory" ] || fail "$source brings no command ai-memory" 'What was installed before still works.'
version=$("$new/bin/ai-memory" --version) ||
    fail 'the new installation does not start' 'What was installed before still works.'

# 3. Let the command name `current`, so that paths written into agents' settings outlive upgrades; then swap in one step.
"$new/bin/python" -I - "$new" "$current" <<'END'
import os
import sys

new, current = sys.argv[1:]
script = os.path.join(new, "bin", "ai-memory")
with open(script, encoding="utf-8") as file:
    text = file.read()
with open(script, "w", encoding="utf-8") as file:
    file.write(text.replace(os.path.join(new, "bin", ""), os.path.join(current, "bin", "")))
fresh = current + ".new"
if os.path.lexists(fresh):
    os.unlink(fresh)
os.symlink(os.path.basename(new), fresh)
os.replace(fresh, current)
END
swapped=yes

# 4. The link in ~/.local/bin, then the environments that nothing names any more.
mkdir -p "$bin"
link_is_ours || ln -s "$target" "$link"
for old in "$app"/env-??????; do
    [ "$old" = "$new" ] || [ "$old" = "$app/$keep" ] || rm -rf "$old"
done

say "Installed: $version"
say "  program  $new"
say "  command  $link"
memory=$(memory_dir)
if [ -e "$memory" ]; then
    say "  memory   $memory (it is there already, and stays as it is)"
else
    say "  memory   $memory (made by your first write)"
fi
case ":${PATH:-}:" in
*":$bin:"*) ;;
*)
    say ''
    say "$bin is not on your PATH. Add this line to the start file of your shell:"
    say "  export PATH=\"\$HOME/.local/bin:\$PATH\""
    ;;
esac
say ''
say "Try it: ~/.local/bin/ai-memory demo"
