#!/bin/sh
# Installs the agent programs for `pytest -m harness` from the npm registry, each in a folder of its own.
# Usage: install_programs.sh FOLDER [NAME…]     NAME: one of those below; without any, all of them (about 3 GB).
set -eu
folder=${1:?"usage: install_programs.sh FOLDER [NAME...]"}
shift
mkdir -p "$folder"
cd "$folder"

packages_of() {
    case $1 in
    claude) echo @anthropic-ai/claude-code ;;
    codex) echo @openai/codex ;;
    copilot) echo @github/copilot ;;
    gemini) echo @google/gemini-cli ;;
    opencode) echo opencode-ai ;;
    pi) echo @earendil-works/pi-coding-agent ;;
    qwen) echo @qwen-code/qwen-code ;;
    # What `tsc` checks the plugins with.
    types) echo @opencode-ai/plugin @earendil-works/pi-coding-agent typescript@5 @types/node@20 ;;
    *)
        echo "no program is called $1" >&2
        return 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- claude codex copilot gemini opencode pi qwen types
for name; do
    packages=$(packages_of "$name")
    mkdir -p "$name"
    [ -f "$name/package.json" ] || echo '{"private": true}' >"$name/package.json"
    # shellcheck disable=SC2086 # several packages
    (cd "$name" && npm install --no-audit --no-fund --loglevel=error $packages)
    (cd "$name" && npm ls --depth=0 | sed 1d)
done
echo "AI_MEMORY_TEST_PROGRAMS=$PWD"
