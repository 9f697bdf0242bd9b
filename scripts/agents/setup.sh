#!/bin/bash
# setup.sh - a bench with the real coding agents, pointed at mock-llm.mjs, no network after the install.
#
#   setup.sh PREFIX HOME PORT [PROJECT_DIR...]   install the pinned agents under PREFIX (skipped when there),
#                                                write a pre-seeded HOME, trust the project folders
#   setup.sh --trust HOME PROJECT_DIR...         trust more project folders in a HOME made before
#
# Needs: bash, node 20+, npm, git (tmux for the tests themselves). Only npm install uses the network.
# PREFIX and HOME should be new folders of the bench. Never give your own home folder as HOME.
#
# Afterwards:
#   HOME/env.sh          prints nothing, sets the whole environment of a bench shell (source it in `env -i bash`)
#   HOME/bin/claude      starts the real Claude Code with a clean environment (HOME, TMUX, ST_* pass through)
#   HOME/bin/codex       the same for Codex
#   HOME/bin/gemini      the same for the Gemini CLI
#   HOME/bin/bench-mock  starts the mock server on PORT in the foreground
#   HOME/log/            requests.jsonl of the mock
#   HOME/port            PORT
# Settings through the environment of setup.sh:
#   CLAUDE_VERSION, CODEX_VERSION, GEMINI_VERSION   other versions than the pinned ones
set -euo pipefail
CLAUDE_VERSION=${CLAUDE_VERSION:-2.1.332}
CODEX_VERSION=${CODEX_VERSION:-0.171.0}
GEMINI_VERSION=${GEMINI_VERSION:-0.61.0}
here=$(cd "$(dirname "$0")" && pwd)

die() { echo "setup.sh: $*" >&2; exit 1; }

trust() { # HOME DIR...
  local h=$1; shift
  [ "$#" -gt 0 ] || return 0
  node - "$h" "$@" <<'JS'
// Claude keys trust by the root of the git repository (worktrees inherit it); Codex the same. Gemini by the folder alone.
const fs = require('fs'), cp = require('child_process'), path = require('path');
const [, , home, ...dirs] = process.argv;
const cj = path.join(home, '.claude.json'), ct = path.join(home, '.codex', 'config.toml');
const gt = path.join(home, '.gemini', 'trustedFolders.json');
const g = JSON.parse(fs.readFileSync(gt, 'utf8'));
const c = JSON.parse(fs.readFileSync(cj, 'utf8'));
let t = fs.readFileSync(ct, 'utf8');
c.projects = c.projects || {};
for (const d of dirs) {
  let root = fs.realpathSync(d);
  g[root] = 'TRUST_FOLDER';
  try { root = cp.execFileSync('git', ['-C', root, 'rev-parse', '--show-toplevel'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim() || root; } catch {}
  c.projects[root] = { ...(c.projects[root] || {}), hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const head = `[projects.${JSON.stringify(root)}]`;
  if (!t.includes(head)) t += `\n${head}\ntrust_level = "trusted"\n`;
}
fs.writeFileSync(cj, JSON.stringify(c, null, 2) + '\n');
fs.writeFileSync(ct, t);
fs.writeFileSync(gt, JSON.stringify(g, null, 2) + '\n', { mode: 0o600 });
JS
}

if [ "${1:-}" = --trust ]; then
  shift; [ "$#" -ge 2 ] || die "usage: setup.sh --trust HOME PROJECT_DIR..."
  trust "$@"; exit 0
fi
# The native binaries are optional dependencies of the packages.
install() { # PREFIX
  local bin=$1/node_modules/.bin
  if [ ! -x "$bin/claude" ] || [ ! -x "$bin/codex" ] || [ ! -x "$bin/gemini" ]; then
    npm install --prefix "$1" --no-audit --no-fund --loglevel=error \
      "@anthropic-ai/claude-code@$CLAUDE_VERSION" "@openai/codex@$CODEX_VERSION" "@google/gemini-cli@$GEMINI_VERSION"
  fi
}

if [ "${1:-}" = --install ]; then
  [ "$#" = 2 ] || die "usage: setup.sh --install PREFIX"
  mkdir -p "$2"
  install "$(cd "$2" && pwd -P)"
  exit 0
fi
[ "$#" -ge 3 ] || die "usage: setup.sh PREFIX HOME PORT [PROJECT_DIR...]"
prefix=$1; home=$2; port=$3; shift 3
case $port in ''|*[!0-9]*) die "PORT must be a number";; esac
mkdir -p "$prefix" "$home"
prefix=$(cd "$prefix" && pwd -P); home=$(cd "$home" && pwd -P)
[ "$home" != "$(cd ~ && pwd -P)" ] || die "HOME must not be your own home folder"
if [ -e "$home/.claude.json" ] && [ ! -e "$home/.agent-bench" ]; then die "$home holds a .claude.json that this script did not write"; fi
: > "$home/.agent-bench"

# 1. The agents.
bin=$prefix/node_modules/.bin
install "$prefix"
# The postinstall step of Claude Code links the native binary; npm may be set to skip such steps.
cc=$prefix/node_modules/@anthropic-ai/claude-code
if ! env -i HOME="$home" PATH="$bin:/usr/local/bin:/usr/bin:/bin" "$bin/claude" --version >/dev/null 2>&1; then
  (cd "$cc" && node install.cjs)
fi

# 2. The pre-seeded home. Everything lies in it: the mock is copied too.
mkdir -p "$home/.claude" "$home/.codex" "$home/.gemini" "$home/bin" "$home/log" "$home/lib"
cp "$here/mock-llm.mjs" "$home/lib/"
echo "$port" > "$home/port"
node - "$home" "$port" "$CLAUDE_VERSION" <<'JS'
const fs = require('fs'), path = require('path');
const [, , home, port, claudeVersion] = process.argv;
const put = (f, s) => fs.writeFileSync(path.join(home, f), s);
const key = 'sk-ant-mock-0000000000000000000000';      // a dummy; Claude stores its last 20 characters as approved
put('.claude.json', JSON.stringify({
  hasCompletedOnboarding: true, lastOnboardingVersion: claudeVersion, lastReleaseNotesSeen: claudeVersion,
  customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
  hasSeenAutoDefaultNotice: true, hasSeenAutoDefaultNudge: true, hasSeenAutoModeEntryWarning: true,
  officialMarketplaceAutoInstallAttempted: true, autoUpdates: false, projects: {},
}, null, 2) + '\n');

const settings = { theme: 'dark', permissions: { defaultMode: 'default' }, skipDangerousModePermissionPrompt: true };
put('.claude/settings.json', JSON.stringify(settings, null, 2) + '\n');

let toml = `# written by setup.sh (agent bench)
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false

[features]
daemon_auto_start = false        # hooks and tools then run in the environment of the pane that started Codex

[analytics]
enabled = false

[tui]
screen_reader_detection_done = true

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${port}/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
`;
put('.codex/config.toml', toml);

put('.gemini/settings.json', JSON.stringify({
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false }, privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: 'gemini-api-key' } }, model: { name: 'gemini-2.5-flash' },
}, null, 2) + '\n');
put('.gemini/trustedFolders.json', '{}\n');

// The launchers: a clean environment, with the pane's tmux variables and the variables of st.
const launcher = (agent, extra) => `#!/bin/bash
# written by setup.sh: the real ${agent}, in a clean environment, against the mock on 127.0.0.1:${port}
pass=()
while IFS= read -r v; do pass+=("$v=\${!v}"); done < <(compgen -e | grep -E '^(TMUX|TMUX_PANE|TERM|COLORTERM|LANG|LC_.*|ST_.*|BENCH_.*)$')
exec env -i HOME='${home}' PATH="\${BENCH_PATH:-}\${BENCH_PATH:+:}${home}/bin:@BIN@:/usr/local/bin:/usr/bin:/bin" SHELL=/bin/bash USER="$(id -un)" \\
  "\${pass[@]}" ${extra} '@BIN@/${agent}' "$@"
`;
const claudeEnv = `ANTHROPIC_BASE_URL=http://127.0.0.1:${port} ANTHROPIC_API_KEY=${key} CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1`;
put('bin/claude', launcher('claude', claudeEnv));
put('bin/codex', launcher('codex', 'MOCK_API_KEY=mock'));
put('bin/gemini', launcher('gemini', `GEMINI_API_KEY=mock GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:${port}`));
put('bin/bench-mock', `#!/bin/bash\nexec node '${home}/lib/mock-llm.mjs' --port ${port} --log '${home}/log/requests.jsonl' "$@"\n`);
put('env.sh', `# source this in a clean bash (env -i TERM=$TERM bash --norc): the bench's own shell environment
export HOME='${home}' PATH="${home}/bin:@BIN@:/usr/local/bin:/usr/bin:/bin" SHELL=/bin/bash LANG=C.UTF-8
`);
// Codex runs commands in a login shell, for which the system's profile may set PATH anew.
put('.profile', `export PATH="\${BENCH_PATH:-}\${BENCH_PATH:+:}${home}/bin:$PATH"\n`);
JS
for f in "$home/bin/claude" "$home/bin/codex" "$home/bin/gemini" "$home/env.sh"; do
  node -e 'const fs=require("fs"),[,f,b]=process.argv;fs.writeFileSync(f,fs.readFileSync(f,"utf8").split("@BIN@").join(b))' "$f" "$bin"
done
chmod +x "$home/bin/claude" "$home/bin/codex" "$home/bin/gemini" "$home/bin/bench-mock"
trust "$home" "$@"

echo "claude: $("$home/bin/claude" --version 2>/dev/null)"
echo "codex:  $("$home/bin/codex" --version 2>/dev/null)"
echo "gemini: $("$home/bin/gemini" --version 2>/dev/null)"
echo "home:   $home"
echo "start the mock server with: $home/bin/bench-mock"
