# bash completion for ai-memory; made by `ai-memory completions bash`
_ai_memory() {
    local cur prev words="" command="" word at
    cur="${COMP_WORDS[COMP_CWORD]}"
    prev="${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        word="${COMP_WORDS[at]}"
        case "$word" in
        --data-dir | --lock-timeout) ((at++)) ;;
        -*) ;;
        *)
            if [[ -z $command ]]; then
                command="$word"
                case "$command" in bench | config | quarantine | source | message | handoff) ;; *) break ;; esac
            else
                command="$command $word"
                break
            fi
            ;;
        esac
    done
    case "$prev" in
    --data-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    esac
    case "$command $prev" in
        "search --tier") COMPREPLY=($(compgen -W "working episodic semantic procedural" -- "$cur")); return ;;
        "search --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "related --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "write-page --tier") COMPREPLY=($(compgen -W "working episodic semantic procedural" -- "$cur")); return ;;
        "write-page --scope") COMPREPLY=($(compgen -W "project global" -- "$cur")); return ;;
        "set --tier") COMPREPLY=($(compgen -W "working episodic semantic procedural" -- "$cur")); return ;;
        "forget --tier") COMPREPLY=($(compgen -W "working episodic semantic procedural" -- "$cur")); return ;;
        "rename-project --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "rename-workspace --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "move-project --conflict") COMPREPLY=($(compgen -W "block overwrite duplicate" -- "$cur")); return ;;
        "move-project --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "move-session --conflict") COMPREPLY=($(compgen -W "block overwrite duplicate" -- "$cur")); return ;;
        "move-session --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "reorg --conflict") COMPREPLY=($(compgen -W "block overwrite duplicate" -- "$cur")); return ;;
        "reorg --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "audit-contamination --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "maintain --only") COMPREPLY=($(compgen -W "drain sources vectors tidy backup" -- "$cur")); return ;;
        "maintain --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "record --kind") COMPREPLY=($(compgen -W "decision fact constraint failure correction procedure preference learning" -- "$cur")); return ;;
        "record --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "resolve --as") COMPREPLY=($(compgen -W "candidate supported needs_review contradicted superseded" -- "$cur")); return ;;
        "resolve --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "feedback --as") COMPREPLY=($(compgen -W "helpful not_helpful stale wrong" -- "$cur")); return ;;
        "feedback list --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "facts --kind") COMPREPLY=($(compgen -W "decision fact constraint failure correction procedure preference learning" -- "$cur")); return ;;
        "facts --standing") COMPREPLY=($(compgen -W "candidate supported needs_review contradicted superseded" -- "$cur")); return ;;
        "facts --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "context --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "timeline --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "impact --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "link --as") COMPREPLY=($(compgen -W "references about supports contradicts supersedes depends_on causes fixes derived_from" -- "$cur")); return ;;
        "link --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "unlink --as") COMPREPLY=($(compgen -W "references about supports contradicts supersedes depends_on causes fixes derived_from" -- "$cur")); return ;;
        "unlink --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "compact --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "salvage --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "reset --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "recent --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "pages --tier") COMPREPLY=($(compgen -W "working episodic semantic procedural" -- "$cur")); return ;;
        "pages --sort") COMPREPLY=($(compgen -W "path -path updated -updated title -title" -- "$cur")); return ;;
        "pages --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "history --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "blame --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "restore-page --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "checkpoints --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "sessions --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "session --order") COMPREPLY=($(compgen -W "asc desc" -- "$cur")); return ;;
        "session --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "capture-turn --role") COMPREPLY=($(compgen -W "user assistant" -- "$cur")); return ;;
        "backfill --capture-mode") COMPREPLY=($(compgen -W "all allowlist" -- "$cur")); return ;;
        "backfill --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "finalize-session --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "list-projects --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "briefing --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "explore --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "handoff list --state") COMPREPLY=($(compgen -W "open accepted expired cancelled any" -- "$cur")); return ;;
        "handoff list --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "message list --box") COMPREPLY=($(compgen -W "inbox outbox" -- "$cur")); return ;;
        "message list --state") COMPREPLY=($(compgen -W "pending claimed cancelled expired any" -- "$cur")); return ;;
        "message list --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "message cancel --box") COMPREPLY=($(compgen -W "inbox outbox" -- "$cur")); return ;;
        "cost --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "doctor --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "install-hooks --scope") COMPREPLY=($(compgen -W "user project" -- "$cur")); return ;;
        "install-mcp --scope") COMPREPLY=($(compgen -W "user project" -- "$cur")); return ;;
        "install-instructions --scope") COMPREPLY=($(compgen -W "user project" -- "$cur")); return ;;
        "install-skills --scope") COMPREPLY=($(compgen -W "user project" -- "$cur")); return ;;
        "uninstall --only") COMPREPLY=($(compgen -W "hooks mcp instructions skills" -- "$cur")); return ;;
        "backup-agents --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "import --conflict") COMPREPLY=($(compgen -W "block skip overwrite duplicate" -- "$cur")); return ;;
        "import --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "import json --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "source add --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "source list --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "source sync --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "source remove --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "log --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "quarantine list --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "quarantine retry --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "quarantine drop --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "config show --format") COMPREPLY=($(compgen -W "md json toon table" -- "$cur")); return ;;
        "review --reason") COMPREPLY=($(compgen -W "contradiction feedback overdue stale candidate needs_review near_duplicate" -- "$cur")); return ;;
    esac
    case "$command" in
        "") words="search bench related read-page write-page edit-page append set move delete-page forget purge-session purge-project rename-project rename-workspace move-project move-session reorg audit-contamination maintain record resolve feedback facts context digest timeline impact link unlink compact salvage reset recent pages history diff blame restore-page checkpoints commit undo sessions session capture-turn backfill finalize-session list-projects where status briefing explore handoff message cost init doctor upgrade install-hooks install-mcp install-instructions self-routing install-skills uninstall backup-agents restore-agents backup restore export export-okf import source reindex embed path pause resume log logs quarantine config edit review tail setup demo hook drain mcp-bridge completions --version --data-dir --lock-timeout --json --help" ;;
        bench) words="retrieval self" ;;
        config) words="show get set unset path" ;;
        quarantine) words="list show retry drop" ;;
        source) words="add list sync remove" ;;
        message) words="send list pop cancel" ;;
        handoff) words="begin list show accept cancel reopen" ;;
        "search") words="-q --variant -n --limit --offset --kind --tag --tier --prefix --path-prefix --since --until --agent --session --scope --all --global --as-of --known-at --include-expired --include-superseded --pin-first --following --max-bytes --max-tokens --abstain --no-abstain --vector --no-vector --explain --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "bench retrieval") words="--set --limit --abstain --no-abstain --vector --no-vector --data-dir --lock-timeout --json --help" ;;
        "bench self") words="--data-dir --lock-timeout --json --help" ;;
        "related") words="-p --path --depth -n --limit --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "read-page") words="-p --path --query --include-related --related-depth --max-bytes --workspace --project --data-dir --lock-timeout --json --help" ;;
        "write-page") words="-b --body --file -p --path --title --kind -t --tag --tier --pinned --no-pinned --expires-at --expected-version --create-only --scope --session --entity --abstract --workspace --project --data-dir --lock-timeout --json --help" ;;
        "edit-page") words="-p --path --old --new --file --expected-version --workspace --project --data-dir --lock-timeout --json --help" ;;
        "append") words="-p --path -b --body --file --expected-version --workspace --project --data-dir --lock-timeout --json --help" ;;
        "set") words="-p --path --title -t --tag --kind --tier --pin --unpin --expires-at --alias --expected-version --workspace --project --data-dir --lock-timeout --json --help" ;;
        "move") words="-p --path --new --workspace --project --data-dir --lock-timeout --json --help" ;;
        "delete-page") words="-p --path --expected-version --workspace --project --data-dir --lock-timeout --json --help" ;;
        "forget") words="-p --path --kind --tag --tier --prefix --query --last --confirm --history --verify --workspace --project --data-dir --lock-timeout --json --help" ;;
        "purge-session") words="--confirm --history --verify --data-dir --lock-timeout --json --help" ;;
        "purge-project") words="--workspace --confirm --history --verify --data-dir --lock-timeout --json --help" ;;
        "rename-project") words="--new --workspace --confirm --format --data-dir --lock-timeout --json --help" ;;
        "rename-workspace") words="--new --confirm --format --data-dir --lock-timeout --json --help" ;;
        "move-project") words="--to --workspace --conflict --confirm --format --data-dir --lock-timeout --json --help" ;;
        "move-session") words="--to --create --force --conflict --confirm --format --data-dir --lock-timeout --json --help" ;;
        "reorg") words="--conflict --confirm --format --data-dir --lock-timeout --json --help" ;;
        "audit-contamination") words="--format --data-dir --lock-timeout --json --help" ;;
        "maintain") words="--only --force --dry-run --format --data-dir --lock-timeout --json --help" ;;
        "record") words="--kind --quote --cite --valid-from --valid-to --supersedes --entity --subject --predicate --object --verify-by --insist --mine --dry-run --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "resolve") words="--as --because --by --quote --cite --mine --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "feedback") words="-p --path --as --because --reason --version --workspace --project --data-dir --lock-timeout --json --help" ;;
        "feedback list") words="-p --path --open -n --limit --offset --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "facts") words="--kind --standing --entity --all --as-of --known-at -n --limit --offset --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "context") words="-q --variant --as-of --known-at --kind -n --limit --max-bytes --abstain --no-abstain --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "digest") words="--max-bytes --workspace --project --data-dir --lock-timeout --json --help" ;;
        "timeline") words="-n --limit --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "impact") words="--depth -n --limit --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "link") words="--as --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "unlink") words="--as --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "compact") words="--confirm --format --data-dir --lock-timeout --json --help" ;;
        "salvage") words="--confirm --format --data-dir --lock-timeout --json --help" ;;
        "reset") words="--confirm --format --data-dir --lock-timeout --json --help" ;;
        "recent") words="-n --limit --after --max-bytes --all --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "pages") words="--kind -t --tag --tier --prefix --since --until --pinned --no-pinned --sort -n --limit --offset --all --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "history") words="-p --path -n --limit --offset --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "diff") words="-p --path --to --workspace --project --data-dir --lock-timeout --json --help" ;;
        "blame") words="-p --path --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "restore-page") words="-p --path --from -n --limit --expected-version --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "checkpoints") words="--page -n --limit --offset --all --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "commit") words="-m --message --data-dir --lock-timeout --json --help" ;;
        "undo") words="--dry-run --all --workspace --project --data-dir --lock-timeout --json --help" ;;
        "sessions") words="--agent --open --since --until -n --limit --offset --max-bytes --all --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "session") words="--kinds --query --order -n --limit --offset --body-max-chars --max-bytes --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "capture-turn") words="--session --index --role -b --text --file --cwd --agent --workspace --project --data-dir --lock-timeout --json --help" ;;
        "backfill") words="--agent --since --max-sessions --dry-run --force --all-projects --capture-mode --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "finalize-session") words="--all --idle --agent --reopen --all-projects --confirm --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "list-projects") words="--workspace --format --data-dir --lock-timeout --json --help" ;;
        "where") words="--workspace --project --data-dir --lock-timeout --json --help" ;;
        "status") words="--line --workspace --project --data-dir --lock-timeout --json --help" ;;
        "briefing") words="-n --recent --settled-first --max-bytes --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "explore") words="-n --recent --max-bytes --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "handoff begin") words="-b --body --file --open-question --next-step --file-touched --to-agent --expires-at --cwd --agent --session --workspace --project --data-dir --lock-timeout --json --help" ;;
        "handoff list") words="--state --all -n --limit --max-bytes --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "handoff show") words="--workspace --project --data-dir --lock-timeout --json --help" ;;
        "handoff accept") words="--cwd --agent --session --workspace --project --data-dir --lock-timeout --json --help" ;;
        "handoff cancel") words="--all --older-than --confirm --workspace --project --data-dir --lock-timeout --json --help" ;;
        "handoff reopen") words="--workspace --project --data-dir --lock-timeout --json --help" ;;
        "message send") words="--to -b --body --file --subject --to-workspace --expires-at --agent --session --workspace --from-workspace --project --from-project --data-dir --lock-timeout --json --help" ;;
        "message list") words="--box --state -n --limit --body-max-chars --max-bytes --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "message pop") words="--agent --session --workspace --project --data-dir --lock-timeout --json --help" ;;
        "message cancel") words="--all --box --confirm --workspace --project --data-dir --lock-timeout --json --help" ;;
        "cost") words="--days --client --all -n --limit --format --data-dir --lock-timeout --json --help" ;;
        "init") words="--allow-synced --data-dir --lock-timeout --json --help" ;;
        "doctor") words="--agent --days --fix --format --data-dir --lock-timeout --json --help" ;;
        "upgrade") words="--confirm --data-dir --lock-timeout --json --help" ;;
        "install-hooks") words="--agent --scope --capture-prompts --no-capture-prompts --print --apply --data-dir --lock-timeout --json --help" ;;
        "install-mcp") words="--agent --scope --force --print --apply --data-dir --lock-timeout --json --help" ;;
        "install-instructions") words="--agent --scope --target --print --apply --data-dir --lock-timeout --json --help" ;;
        "self-routing") words="--compact --data-dir --lock-timeout --json --help" ;;
        "install-skills") words="--agent --scope --force --print --apply --data-dir --lock-timeout --json --help" ;;
        "uninstall") words="--only --agent --purge-data --confirm --apply --data-dir --lock-timeout --json --help" ;;
        "backup-agents") words="--agent --output --format --data-dir --lock-timeout --json --help" ;;
        "restore-agents") words="--agent --apply --data-dir --lock-timeout --json --help" ;;
        "backup") words="-o --output --verify --keep --data-dir --lock-timeout --json --help" ;;
        "restore") words="--force --dry-run --data-dir --lock-timeout --json --help" ;;
        "export") words="--all --workspace --project --data-dir --lock-timeout --json --help" ;;
        "export-okf") words="--skip-invalid --all --workspace --project --data-dir --lock-timeout --json --help" ;;
        "import") words="--into --conflict --dry-run --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "import json") words="--mapping --root --authoritative --dry-run --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "source add") words="--mapping --root --authoritative --every --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "source list") words="--format --data-dir --lock-timeout --json --help" ;;
        "source sync") words="--format --data-dir --lock-timeout --json --help" ;;
        "source remove") words="--format --data-dir --lock-timeout --json --help" ;;
        "reindex") words="--data-dir --lock-timeout --json --help" ;;
        "embed") words="-n --limit --all --prune --dry-run --workspace --project --data-dir --lock-timeout --json --help" ;;
        "path") words="-p --path --workspace --project --data-dir --lock-timeout --json --help" ;;
        "pause") words="--for --here --data-dir --lock-timeout --json --help" ;;
        "resume") words="--all --data-dir --lock-timeout --json --help" ;;
        "log") words="--since --session -n --limit --before --all --workspace --project --format --data-dir --lock-timeout --json --help" ;;
        "logs") words="-n --limit --data-dir --lock-timeout --json --help" ;;
        "quarantine list") words="-n --limit --format --data-dir --lock-timeout --json --help" ;;
        "quarantine show") words="--data-dir --lock-timeout --json --help" ;;
        "quarantine retry") words="--all --format --data-dir --lock-timeout --json --help" ;;
        "quarantine drop") words="--all --confirm --format --data-dir --lock-timeout --json --help" ;;
        "config show") words="--origin --format --data-dir --lock-timeout --json --help" ;;
        "config get") words="--data-dir --lock-timeout --json --help" ;;
        "config set") words="--data-dir --lock-timeout --json --help" ;;
        "config unset") words="--data-dir --lock-timeout --json --help" ;;
        "config path") words="--data-dir --lock-timeout --json --help" ;;
        "edit") words="-p --path --workspace --project --data-dir --lock-timeout --json --help" ;;
        "review") words="--reason --list -n --limit --offset --workspace --project --data-dir --lock-timeout --json --help" ;;
        "tail") words="-f --follow -n --limit --session --all --workspace --project --data-dir --lock-timeout --json --help" ;;
        "setup") words="--agent --capture-prompts --no-capture-prompts --yes --dry-run --data-dir --lock-timeout --json --help" ;;
        "demo") words="--keep --data-dir --lock-timeout --json --help" ;;
        "hook") words="--data-dir --lock-timeout --json --help" ;;
        "drain") words="--data-dir --lock-timeout --json --help" ;;
        "mcp-bridge") words="--data-dir --lock-timeout --json --help" ;;
        "completions") words="bash zsh fish powershell --data-dir --lock-timeout --json --help" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _ai_memory ai-memory
