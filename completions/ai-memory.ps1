# PowerShell completion for ai-memory; made by `ai-memory completions powershell`
$script:AiMemoryWords = @{
    '' = @('search', 'bench', 'related', 'read-page', 'write-page', 'append', 'set', 'move', 'delete-page', 'recent', 'pages', 'history', 'sessions', 'session', 'backfill', 'finalize-session', 'list-projects', 'where', 'status', 'handoff', 'init', 'install-hooks', 'install-mcp', 'install-instructions', 'install-skills', 'uninstall', 'backup-agents', 'restore-agents', 'reindex', 'embed', 'path', 'pause', 'resume', 'log', 'logs', 'quarantine', 'config', 'edit', 'tail', 'setup', 'demo', 'hook', 'drain', 'mcp-bridge', 'completions', '--version', '--data-dir', '--lock-timeout', '--json', '--help')
    'search' = @('-q', '--variant', '-n', '--limit', '--offset', '--kind', '--tag', '--tier', '--prefix', '--path-prefix', '--since', '--until', '--agent', '--session', '--scope', '--all', '--global', '--include-expired', '--include-superseded', '--pin-first', '--following', '--max-bytes', '--max-tokens', '--abstain', '--no-abstain', '--vector', '--no-vector', '--explain', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'bench retrieval' = @('--set', '--limit', '--abstain', '--no-abstain', '--vector', '--no-vector', '--data-dir', '--lock-timeout', '--json', '--help')
    'bench self' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'related' = @('-p', '--path', '--depth', '-n', '--limit', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'read-page' = @('-p', '--path', '--query', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'write-page' = @('-b', '--body', '--file', '-p', '--path', '--title', '--kind', '-t', '--tag', '--tier', '--pinned', '--no-pinned', '--expires-at', '--expected-version', '--create-only', '--scope', '--session', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'append' = @('-p', '--path', '-b', '--body', '--file', '--expected-version', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'set' = @('-p', '--path', '--title', '-t', '--tag', '--kind', '--tier', '--pin', '--unpin', '--expires-at', '--alias', '--expected-version', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'move' = @('-p', '--path', '--new', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'delete-page' = @('-p', '--path', '--expected-version', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'recent' = @('-n', '--limit', '--after', '--all', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'pages' = @('--kind', '-t', '--tag', '--tier', '--prefix', '--since', '--until', '--pinned', '--no-pinned', '--sort', '-n', '--limit', '--offset', '--all', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'history' = @('-p', '--path', '-n', '--limit', '--offset', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'sessions' = @('--agent', '--open', '--since', '--until', '-n', '--limit', '--offset', '--all', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'session' = @('--kinds', '--query', '-n', '--limit', '--offset', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'backfill' = @('--agent', '--since', '--max-sessions', '--dry-run', '--force', '--all-projects', '--capture-mode', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'finalize-session' = @('--all', '--idle', '--agent', '--reopen', '--all-projects', '--confirm', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'list-projects' = @('--workspace', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'where' = @('--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'status' = @('--line', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff begin' = @('-b', '--body', '--file', '--open-question', '--next-step', '--file-touched', '--to-agent', '--expires-at', '--agent', '--session', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff list' = @('--state', '--all', '-n', '--limit', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff show' = @('--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff accept' = @('--agent', '--session', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff cancel' = @('--all', '--older-than', '--confirm', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'handoff reopen' = @('--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'init' = @('--allow-synced', '--data-dir', '--lock-timeout', '--json', '--help')
    'install-hooks' = @('--agent', '--scope', '--capture-prompts', '--no-capture-prompts', '--print', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'install-mcp' = @('--agent', '--scope', '--force', '--print', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'install-instructions' = @('--agent', '--scope', '--target', '--print', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'install-skills' = @('--agent', '--scope', '--force', '--print', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'uninstall' = @('--only', '--agent', '--purge-data', '--confirm', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'backup-agents' = @('--agent', '--output', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'restore-agents' = @('--agent', '--apply', '--data-dir', '--lock-timeout', '--json', '--help')
    'reindex' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'embed' = @('-n', '--limit', '--all', '--prune', '--dry-run', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'path' = @('-p', '--path', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'pause' = @('--for', '--here', '--data-dir', '--lock-timeout', '--json', '--help')
    'resume' = @('--all', '--data-dir', '--lock-timeout', '--json', '--help')
    'log' = @('--since', '--session', '-n', '--limit', '--before', '--all', '--workspace', '--project', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'logs' = @('-n', '--limit', '--data-dir', '--lock-timeout', '--json', '--help')
    'quarantine list' = @('-n', '--limit', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'quarantine show' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'quarantine retry' = @('--all', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'quarantine drop' = @('--all', '--confirm', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'config show' = @('--origin', '--format', '--data-dir', '--lock-timeout', '--json', '--help')
    'config get' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'config set' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'config unset' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'config path' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'edit' = @('-p', '--path', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'tail' = @('-f', '--follow', '-n', '--limit', '--session', '--all', '--workspace', '--project', '--data-dir', '--lock-timeout', '--json', '--help')
    'setup' = @('--agent', '--capture-prompts', '--no-capture-prompts', '--yes', '--dry-run', '--data-dir', '--lock-timeout', '--json', '--help')
    'demo' = @('--keep', '--data-dir', '--lock-timeout', '--json', '--help')
    'hook' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'drain' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'mcp-bridge' = @('--data-dir', '--lock-timeout', '--json', '--help')
    'completions' = @('bash', 'zsh', 'fish', 'powershell', '--data-dir', '--lock-timeout', '--json', '--help')
    'bench' = @('retrieval', 'self')
    'config' = @('show', 'get', 'set', 'unset', 'path')
    'quarantine' = @('list', 'show', 'retry', 'drop')
    'handoff' = @('begin', 'list', 'show', 'accept', 'cancel', 'reopen')
}
Register-ArgumentCompleter -Native -CommandName ai-memory -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $names = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { $_.ToString() } | Where-Object { -not $_.StartsWith('-') })
    $command = ''
    foreach ($length in 2, 1) {
        if ($names.Count -ge $length) {
            $candidate = ($names[0..($length - 1)]) -join ' '
            if ($script:AiMemoryWords.ContainsKey($candidate)) { $command = $candidate; break }
        }
    }
    $script:AiMemoryWords[$command] | Where-Object { $_ -like "$wordToComplete*" } |
        ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
