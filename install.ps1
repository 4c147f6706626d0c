<#
.SYNOPSIS
    Installs ai-memory for one user: an own Python environment and one command file, nothing else.
.DESCRIPTION
    %LOCALAPPDATA%\ai-memory-app\env-XXXXXX   one environment an install; the former one goes when the new one works
    %LOCALAPPDATA%\ai-memory-app\current      junction to the environment in use
    %LOCALAPPDATA%\ai-memory-app\made-bin     says that the folder of the command file was made by this script
    %USERPROFILE%\.local\bin\ai-memory.cmd    calls current\Scripts\ai-memory.exe

    A run that is interrupted while it builds leaves the former installation as it was. No profile, no PATH and no
    registry key is edited. Run from a checkout it installs that checkout, else the package ai-memory.
.PARAMETER Extras
    Optional parts: embed (local vectors), llm (model providers), all; several with commas: embed,llm
.PARAMETER Uninstall
    Remove the program and its command file. Your memory stays.
.PARAMETER Help
    This text.
.EXAMPLE
    powershell -ExecutionPolicy Bypass -File install.ps1 -Extras embed
#>
[CmdletBinding()]
param(
    [string[]] $Extras = @(),
    [switch] $Uninstall,
    [switch] $Help
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
if ($PSVersionTable.PSVersion.Major -ge 7) { $PSNativeCommandUseErrorActionPreference = $false }

function Write-Refusal([string] $Message, [string[]] $Hints = @()) {
    [Console]::Error.WriteLine("install.ps1: $Message")
    foreach ($hint in $Hints) { [Console]::Error.WriteLine("  $hint") }
}

function Show-Usage {
    Write-Output @'
Usage: powershell -ExecutionPolicy Bypass -File install.ps1 [-Extras embed|llm|all] [-Uninstall] [-Help]

  -Extras NAME   also install optional parts: embed (local vectors), llm (model providers), all;
                 several with commas: embed,llm
  -Uninstall     remove the program and its command file; your memory stays
  -Help          this text

Run from a checkout it installs that checkout, else the package ai-memory from the package index.
'@
}

if ($Help) { Show-Usage; exit 0 }

# -File hands "embed,llm" over as one string.
$wanted = @($Extras | ForEach-Object { $_ -split ',' } | Where-Object { $_ })
foreach ($extra in $wanted) {
    if (@('embed', 'llm', 'all') -notcontains $extra) {
        Write-Refusal "-Extras knows embed, llm and all, not `"$extra`""
        exit 2
    }
}

$app = Join-Path $env:LOCALAPPDATA 'ai-memory-app'
$current = Join-Path $app 'current'
$bin = Join-Path (Join-Path $env:USERPROFILE '.local') 'bin'
$command = Join-Path $bin 'ai-memory.cmd'
$madeBin = Join-Path $app 'made-bin'
$mark = 'rem Made by the installer of ai-memory.'
$memory = if ($env:AI_MEMORY_DATA_DIR) { $env:AI_MEMORY_DATA_DIR } else { Join-Path $env:LOCALAPPDATA 'ai-memory' }

# A Python that calls this script must not lend its settings to the new environment.
foreach ($name in 'PYTHONHOME', 'PYTHONPATH', 'VIRTUAL_ENV', 'PIP_USER', 'PIP_TARGET', 'PIP_PREFIX', 'PIP_REQUIRE_VIRTUALENV') {
    if (Test-Path "Env:$name") { Remove-Item "Env:$name" }
}
$env:PIP_DISABLE_PIP_VERSION_CHECK = '1'

function Test-CommandIsOurs {
    (Test-Path -LiteralPath $command -PathType Leaf) -and ((Get-Content -LiteralPath $command) -contains $mark)
}

# Remove-Item on a junction would empty the folder that it points to in old PowerShells.
function Remove-Junction([string] $Path) {
    if (Test-Path -LiteralPath $Path) { [IO.Directory]::Delete($Path, $false) }
}

function Remove-Program {
    if (Test-CommandIsOurs) {
        Remove-Item -LiteralPath $command
        Write-Output "Removed: $command"
    } elseif (Test-Path -LiteralPath $command) {
        Write-Output "Left alone: $command (not made by this installer)"
    } else {
        Write-Output "Not there: $command"
    }
    $hasMadeBin = Test-Path -LiteralPath $madeBin
    if (Test-Path -LiteralPath $app) {
        Remove-Junction $current
        if ($hasMadeBin) { Remove-Item -LiteralPath $madeBin -Force }
        Get-ChildItem -LiteralPath $app -Directory -Filter 'env-*' | Remove-Item -Recurse -Force
        $busy = Join-Path $app 'busy'
        if (Test-Path -LiteralPath $busy) { Remove-Item -LiteralPath $busy -Force }
        if (@(Get-ChildItem -LiteralPath $app -Force).Count -eq 0) {
            Remove-Item -LiteralPath $app
            Write-Output "Removed: $app"
        } else {
            Write-Output "Left alone: $app (it holds files that this installer did not make)"
        }
    } else {
        Write-Output "Not there: $app"
    }
    if ($hasMadeBin -and (Test-Path -LiteralPath $bin) -and @(Get-ChildItem -LiteralPath $bin -Force).Count -eq 0) {
        Remove-Item -LiteralPath $bin
        Write-Output "Removed: $bin"
    }
    Write-Output "Your memory stays: $memory"
    Write-Output 'Hooks that you wired do nothing while the program is gone. Take their entries out of your agents when you like.'
}

# The interpreter that can make an environment, or nothing.
function Find-Python {
    $probe = 'import sys; sys.version_info < (3, 11) and sys.exit(1); import ensurepip, venv; print(sys.executable)'
    $candidates = @(
        @('py', '-3.14'), @('py', '-3.13'), @('py', '-3.12'), @('py', '-3.11'),
        @('python3.14'), @('python3.13'), @('python3.12'), @('python3.11'), @('python3'), @('python')
    )
    foreach ($candidate in $candidates) {
        if (-not (Get-Command $candidate[0] -CommandType Application -ErrorAction SilentlyContinue)) { continue }
        $arguments = @($candidate | Select-Object -Skip 1) + @('-c', $probe)
        # The Store's stand-in for python prints an advertisement and fails.
        try { $found = & $candidate[0] @arguments 2>$null } catch { continue }
        if ($LASTEXITCODE -eq 0 -and $found) { return [string] $found }
    }
    return $null
}

# The folder of this script, if it is a checkout of ai-memory. Read from a pipe, a script has no folder.
function Find-Checkout {
    if (-not $PSScriptRoot) { return $null }
    $project = Join-Path $PSScriptRoot 'pyproject.toml'
    if (-not (Test-Path -LiteralPath $project)) { return $null }
    if ((Get-Content -LiteralPath $project) -contains 'name = "ai-memory"') { return $PSScriptRoot }
    return $null
}

if ($Uninstall) { Remove-Program; exit 0 }

if ((Test-Path -LiteralPath $command) -and -not (Test-CommandIsOurs)) {
    Write-Refusal "$command exists and was not made by this installer; it stays as it is" 'Move it away and run this again. Nothing was changed.'
    exit 1
}

$checkout = Find-Checkout
$source = if ($checkout) { $checkout } else { 'ai-memory' }
if ($wanted.Count -gt 0) { $source = "$source[$($wanted -join ',')]" }

$python = Find-Python
$tool = 'venv'
if ($python) {
    Write-Output "Python: $python"
} elseif (Get-Command uv -CommandType Application -ErrorAction SilentlyContinue) {
    $tool = 'uv'
    Write-Output 'Python: none of 3.11 or newer that can make environments; uv brings one'
} else {
    Write-Refusal 'no Python of 3.11 or newer was found, and no uv' @(
        'winget install Python.Python.3.13',
        'or install uv: https://docs.astral.sh/uv/',
        'Nothing was changed.'
    )
    exit 1
}

$null = New-Item -ItemType Directory -Force -Path $app
$busy = Join-Path $app 'busy'
try {
    # Held open without sharing: a second install cannot open it, a dead one holds nothing.
    $lock = [IO.File]::Open($busy, 'OpenOrCreate', 'ReadWrite', 'None')
} catch {
    Write-Refusal 'another install is running' 'Wait for it to end and run this again.'
    exit 1
}

$new = Join-Path $app ('env-' + [Guid]::NewGuid().ToString('N').Substring(0, 6))
$swapped = $false
$status = 1
try {
    # 1. Build the new environment beside the one in use.
    Write-Output "Installing $source (this takes about a minute)"
    $interpreter = Join-Path (Join-Path $new 'Scripts') 'python.exe'
    $program = Join-Path (Join-Path $new 'Scripts') 'ai-memory.exe'
    if ($tool -eq 'uv') {
        & uv venv --quiet --python '>=3.11' $new
        if ($LASTEXITCODE -ne 0) { throw 'uv could not make an environment' }
        & uv pip install --quiet --python $interpreter $source
    } else {
        & $python -m venv $new
        if ($LASTEXITCODE -ne 0) { throw "$python could not make an environment" }
        & $interpreter -m pip install --quiet $source
    }
    if ($LASTEXITCODE -ne 0) { throw "installing $source failed; the message above says why" }

    # 2. Look at it before it is used: it must start, and its hook must not compile anything at each start.
    $package = & $interpreter -I -c 'import os, ai_memory; print(os.path.dirname(os.path.abspath(ai_memory.__file__)))'
    if ($LASTEXITCODE -ne 0) { throw "$source holds no package ai_memory" }
    & $interpreter -m compileall -q $package
    if ($LASTEXITCODE -ne 0) { throw 'compiling the package failed' }
    $version = & $program --version
    if ($LASTEXITCODE -ne 0) { throw 'the new installation does not start' }

    # 3. Swap. A junction needs no special right. Killed between the two lines, the next run mends it.
    Remove-Junction $current
    $null = New-Item -ItemType Junction -Path $current -Value $new
    $swapped = $true

    # 4. The command file, then the environments that nothing names any more (one in use stays until the next run).
    if (-not (Test-Path -LiteralPath $bin)) { $null = New-Item -ItemType File -Force -Path $madeBin }
    $null = New-Item -ItemType Directory -Force -Path $bin
    Set-Content -LiteralPath $command -Encoding Default -Value @(
        '@echo off',
        $mark,
        "`"$current\Scripts\ai-memory.exe`" %*"
    )
    Get-ChildItem -LiteralPath $app -Directory -Filter 'env-*' |
        Where-Object { $_.FullName -ne $new } |
        Remove-Item -Recurse -Force -ErrorAction SilentlyContinue

    Write-Output "Installed: $version"
    Write-Output "  program  $new"
    Write-Output "  command  $command"
    $kept = if (Test-Path -LiteralPath $memory) { 'it is there already, and stays as it is' } else { 'made by your first write' }
    Write-Output "  memory   $memory ($kept)"
    if (($env:PATH -split ';') -notcontains $bin) {
        Write-Output ''
        Write-Output "$bin is not on your PATH. To add it for your user, run:"
        Write-Output "  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$bin', 'User')"
    }
    Write-Output ''
    Write-Output "Try it: $command demo"
    $status = 0
} catch {
    Write-Refusal $_.Exception.Message 'What was installed before still works.'
} finally {
    if (-not $swapped -and (Test-Path -LiteralPath $new)) { Remove-Item -LiteralPath $new -Recurse -Force -ErrorAction SilentlyContinue }
    $lock.Dispose()
    Remove-Item -LiteralPath $busy -Force -ErrorAction SilentlyContinue
}
exit $status
