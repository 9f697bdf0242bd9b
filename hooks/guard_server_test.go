package hooks

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// guarded is a place with a server of its own, pid 4711, in which the agent's session is one of three.
func guarded(dir string) Place {
	uid := strconv.Itoa(os.Getuid())
	env := map[string]string{
		"TMUX": "/tmp/tmux-" + uid + "/work,4711,0", "TMUX_PANE": "%3", "HOME": "/home/dev", "USER": "dev", "TMPDIR": "/tmp",
	}
	return Place{
		Agent: true, Env: func(n string) string { return env[n] },
		Server: Server{
			Socket: "/tmp/tmux-" + uid + "/work", PID: 4711, Usual: "/tmp/tmux-" + uid + "/default",
			Sessions: func() ([]Session, error) {
				return []Session{{ID: "$0", Name: "main", Own: true}, {ID: "$1", Name: "side"}, {ID: "$2", Name: "sidecar"}}, nil
			},
			Command: func() string { return "tmux -L work new-session -d -s main" },
		},
	}
}

// stopping are commands that would stop the server, one a line; a line break in one is written as \n.
const stopping = `
tmux kill-server
tmux kill-serv
tmux kill-ser
/usr/bin/tmux kill-server
\tmux kill-server
'tmux' "kill-server"
t"mu"x kill-server
tmux \; kill-server
tmux ';' kill-server
tmux display-message hi \; kill-server
tmux new-window -d\; kill-server
tmux -L work kill-server
tmux -Lwork kill-server
tmux -S /tmp/tmux-UID/work kill-server
tmux -S/tmp/tmux-UID/work kill-server
tmux -2u -L work kill-server
tmux -f /dev/null kill-server
tmux -S "${TMUX%%,*}" kill-server
tmux -S "$(echo $TMUX | cut -d, -f1)" kill-server
tmux -S $(tmux display-message -p '#{socket_path}') kill-server
tmux -L default kill-server
TMUX= tmux kill-server
env -u TMUX tmux kill-server
unset TMUX; tmux kill-server
cd /tmp && tmux kill-server
tmux kill-server || true
tmux kill-server 2>/dev/null &
(tmux kill-server)
{ tmux kill-server; }
if true; then tmux kill-server; fi
for i in 1 2; do tmux kill-server; done
while ! tmux kill-server; do sleep 1; done
f() { tmux kill-server; }; f
x=$(tmux kill-server 2>&1)
echo "$(tmux kill-server)"
cat <(tmux kill-server)
! tmux kill-server
time tmux kill-server
T=tmux; $T kill-server
T="tmux kill-server"; $T
$(which tmux) kill-server
"$(command -v tmux)" kill-server
CMD=kill-server; tmux "$CMD"
tmux kill-{server,session}
rm /tmp/tmux-UID/{a,$(echo b)} && tmux kill-server
sudo tmux kill-server
sudo -n -u dev tmux kill-server
sudo -u root -- tmux kill-server
env A=b tmux kill-server
env -i PATH=/usr/bin tmux kill-server
env -S 'tmux kill-server'
nohup tmux kill-server
timeout 5 tmux kill-server
timeout -k 1 -s KILL 5s tmux kill-server
nice -n 10 tmux kill-server
nice -10 tmux kill-server
command tmux kill-server
exec tmux kill-server
setsid -w tmux kill-server
stdbuf -oL tmux kill-server
flock /tmp/lock tmux kill-server
flock /tmp/lock -c 'tmux kill-server'
nohup setsid timeout 5 env A=b tmux kill-server
systemd-run --user tmux kill-server
echo kill-server | xargs tmux
xargs tmux kill-server < /dev/null
find . -maxdepth 0 -exec tmux kill-server \;
sh -c 'tmux kill-server'
bash -lc 'tmux kill-server'
bash -l -c "cd /tmp; tmux kill-server"
bash -o pipefail -c 'tmux kill-server'
sudo sh -c 'tmux kill-server'
sh -c "sh -c 'tmux kill-server'"
sh -c '"$@"' _ tmux kill-server
sh -c 'tmux "$1"' _ kill-server
eval 'tmux kill-server'
eval tmux kill-server
trap 'tmux kill-server' EXIT
su - dev -c 'tmux kill-server'
script -qc 'tmux kill-server' /dev/null
watch -n 1 tmux kill-server
bash <<EOF\ntmux kill-server\nEOF
bash -s <<'EOF'\nset -e\ntmux kill-server\nEOF
sh <<< 'tmux kill-server'
echo 'tmux kill-server' | sh
printf 'tmux kill-server\n' | bash -x
echo tmux kill-server | at now
tmux run-shell 'tmux kill-server'
tmux run-shell -b 'sleep 1; tmux kill-server'
tmux new-window -d 'tmux kill-server'
tmux split-window -h -t %3 tmux kill-server
tmux if-shell -F 1 kill-server
tmux if-shell true 'kill-server' 'display no'
tmux confirm-before -p ok kill-server
tmux set-hook -g client-detached kill-server
tmux send-keys -t %5 'tmux kill-server' Enter
tmux send-keys -t %5 tmux Space kill-server Enter
tmux -C <<EOF\nkill-server\nEOF
echo kill-server | tmux -C attach
tmux source-file - <<< 'kill-server'
python3 -c 'import os; os.system("tmux kill-server")'
python3 -c 'import subprocess; subprocess.run(["tmux", "kill-server"])'
python3 - <<EOF\nimport subprocess\nsubprocess.run(["tmux","kill-server"])\nEOF
perl -e 'system("tmux kill-server")'
node -e 'require("child_process").execSync("tmux kill-server")'
awk 'BEGIN { system("tmux kill-server") }'
python3 -c 'import os; os.system("pkill tmux")'
pkill tmux
pkill -f tmux
pkill -f 'tm.x'
pkill -9 -x tmux
pkill -x 'tmux: server'
pkill -KILL tmux
pkill -SIGTERM tmux
pkill --signal 9 tmux
pkill -i TMUX
pkill -u dev tmux
pkill -u dev
pkill -9 -u "$USER"
pkill -f 'tmux new-session'
pkill -f 'new-session -d -s main'
pkill -f .
pkill -v node
pkill -P 4711
pkill tmu
sudo pkill -9 tmux
echo tmux | xargs pkill
killall tmux
killall -9 tmux
killall -s KILL tmux
killall 'tmux: server'
killall -r 'tm.*'
killall -u dev
killall -q -w tmux node
killall5
kill 4711
kill -9 4711
kill -s KILL 4711
kill -TERM -- -4711
kill -9 -4711
kill -9 -1
/bin/kill 4711
env kill -9 123 4711
kill -9 $(pgrep tmux)
kill $(pgrep -f 'tm[u]x')
kill -9 $(pidof tmux)
kill ` + "`pgrep -x tmux`" + `
kill $(pgrep -o "tmux: server")
kill "$(ps -C tmux -o pid=)"
kill -9 $(ps aux | grep '[t]mux' | awk '{print $2}')
kill $(tmux display-message -p '#{pid}')
kill $(echo $TMUX | cut -d, -f2)
kill "$(cut -d, -f2 <<< "$TMUX")"
pid=${TMUX#*,}; kill ${pid%,*}
PID=$(pgrep tmux); kill $PID
PID=$(pgrep tmux) && kill -9 "$PID"
for p in $(pgrep tmux); do kill -9 $p; done
pgrep tmux | xargs kill
pgrep tmux | xargs -r -n1 kill -9
ps aux | grep tmux | awk '{print $2}' | xargs kill -9
pgrep tmux | while read p; do kill $p; done
IFS=, read -r _ pid _ <<< "$TMUX"; kill $pid
lsof -t /tmp/tmux-UID/work | xargs kill
fuser -k /tmp/tmux-UID/work
kill $(lsof -t /tmp/tmux-UID/work)
tmux list-panes -a -F '#{pane_pid}' | xargs kill -9
rm -rf /tmp/tmux-UID
rm -rf /tmp/tmux-*
rm -rf /tmp/tmux-$(id -u)
rm -rf "/tmp/tmux-$UID"
rm -f /tmp/tmux-UID/work
rm -f /tmp/tmux-UID/*
rm /tmp/tmux-UID/{work,other}
rm -rf /tmp/*
rm -rf /tmp
rm -rf /
cd /tmp && rm -rf tmux-UID
cd /tmp/tmux-UID && rm work
rm "${TMUX%%,*}"
rm -rf "$(dirname "${TMUX%%,*}")"
rm -rf "$(dirname $(echo $TMUX | cut -d, -f1))"
unlink /tmp/tmux-UID/work
mv /tmp/tmux-UID /tmp/old
find /tmp/tmux-UID -delete
find /tmp -name 'tmux-*' -exec rm -rf {} +
rm -r /tmp/tmux-UID/default
find /tmp -name 'tmux-*' | xargs rm -rf
tmux kill-session
tmux kill-ses
tmux kill-session -t main
tmux kill-session -t =main
tmux kill-session -t '$0'
tmux kill-session -t ma
tmux kill-session -t main:
tmux kill-session -a
tmux kill-session -at main
tmux kill-session -a -t side
tmux kill-session -t side \; kill-session -t main
tmux kill-session -t %3
tmux list-sessions -F '#S' | xargs -n1 tmux kill-session -t
tmux ls -F '#S' | while read s; do tmux kill-session -t "$s"; done
for s in $(tmux ls -F '#S'); do tmux kill-session -t $s; done
systemctl --user stop tmux
systemctl --user stop tmux@main.service
systemctl stop tmux.service
sudo systemctl restart user@1000
loginctl terminate-user dev
loginctl kill-user dev
byobu kill-server
tmux kill-server 'unfinished
`

const harmless = `
tmux -L other kill-server
tmux -Lother kill-server
tmux -S /tmp/test/sock kill-server
tmux -S "$SOCK" kill-server
tmux -L "test-$$" kill-server
tmux -L other -f /dev/null new-session -d \; kill-server
D=$(mktemp -d); tmux -S $D/s new -d; tmux -S $D/s kill-server
S=/tmp/x/sock; trap 'tmux -S $S kill-server' EXIT
TMUX=/tmp/x/sock,1,0 tmux kill-server
TMUX= TMUX_TMPDIR=/tmp/priv tmux kill-server
env -u TMUX TMUX_TMPDIR=/tmp/priv tmux kill-server
tmux -L other run-shell 'tmux kill-server'
tmux -L other new-session -d 'tmux kill-server'
tmux -L other send-keys 'tmux kill-server' Enter
tmux -L other kill-session -a
sudo tmux -L other kill-server
sh -c 'tmux -L other kill-server'
python3 -c 'import os; os.system("tmux -L other kill-server")'
python3 -c 'import subprocess; subprocess.run(["tmux", "-L", "other", "kill-server"])'
tmux kill-pane -t %5
tmux kill-window -t @4
tmux kill-session -t side
tmux kill-session -t =sidecar
tmux kill-session -t '$2'
tmux kill-session -t side \; kill-session -t sidecar
tmux kill-session -C
tmux list-sessions
tmux kill
tmux new-window -n kill-server
tmux rename-window kill-server
tmux display-message 'do not kill-server'
tmux set-buffer 'never tmux kill-server please'
tmux attach
tmux
tmux source-file ~/.tmux.conf
tmux -V
man tmux
which tmux
command -v tmux
type tmux
apt-get install tmux
grep -r "tmux kill-server" .
grep -rn 'pkill tmux' docs
rg 'tmux kill-server'
git grep 'kill-server'
git log --grep 'tmux kill-server'
git commit -m "tmux kill-server"
git commit -m 'Refuse tmux kill-server and pkill tmux'
git commit -F - <<EOF\nNever run tmux kill-server\nEOF
echo tmux kill-server
echo "run tmux kill-server"
printf 'tmux kill-server\n' > notes.txt
echo 'tmux kill-server' >> cleanup.sh
cat > cleanup.sh <<EOF\ntmux kill-server\nEOF
tee notes.md <<< 'tmux kill-server'
ls # tmux kill-server
# pkill tmux
: tmux kill-server
true 'tmux kill-server'
st worker send w1 'do not run tmux kill-server'
st ask --question 'may I run tmux kill-server?'
python3 -c 'print("tmux")'
adb kill-server
ssh host tmux kill-server
docker exec box tmux kill-server
pgrep tmux
pgrep -fl tmux
ps aux | grep tmux
pidof tmux
pkill node
pkill -f 'node server.js'
pkill -9 -f vite
pkill -x node
pkill -f tmux-resurrect-helper
pkill -f my-tmux-plugin
pkill -USR1 tmux
pkill -0 tmux
pkill -P 99
pkill -P $$
pkill -t pts/9
pkill -u dev node
killall node
killall -9 chrome
killall -r 'nod.*'
killall -l
kill 1234
kill -9 1234
kill -- -1234
kill -0 4711
kill -l
kill %1
kill $!
kill "$SERVER_PID"
kill $(cat server.pid)
kill $(pgrep node)
kill -9 $(lsof -t -i :3000)
kill $(ps aux | grep '[n]ode' | awk '{print $2}')
PID=$(pgrep node); kill $PID
npm start & PID=$!; sleep 1; kill $PID
pgrep node | xargs kill
for p in $(pgrep -f vite); do kill $p; done
pgrep -a tmux | head; kill 1234
kill $(tmux -L other display -p '#{pid}')
echo $TMUX; kill $PID
rm -rf build
rm -rf /tmp/build
rm -rf /tmp/tmux-test
rm -rf /tmp/tmuxes
rm -f /tmp/tmux-UID/other
rm -rf "$DIR"/build
rm -rf "$DIR"/*
rm -rf node_modules/*
rm /tmp/*.log
rm "$D"/{a,$(echo b)}
rm notes-tmux.md
rm /tmp
mv a b
mv notes /tmp
mv -t /tmp notes
find . -name '*.o' -delete
find . -name tmux -print
unlink a.link
grep -rl x src | xargs rm
grep -rl tmux docs | xargs rm
pgrep -f x | head
ls -la /tmp/tmux-UID
cp -r /tmp/tmux-UID /tmp/copy
lsof /tmp/tmux-UID/work
fuser /tmp/tmux-UID/work
systemctl status tmux
systemctl --user stop nginx
systemctl restart postgresql
loginctl list-sessions
cat <<'EOF'\ntmux kill-server\npkill tmux\nEOF
awk '/tmux kill-server/' log.txt
awk '/tmux/ { print "tmux kill-server" }' log.txt
python3 - <<'EOF'\np = open("README.md").read()\nopen("README.md", "w").write(p.replace("x", "tmux kill-server"))\nEOF
sed -n '/kill-server/p' log.txt
sed -i 's/tmux kill-server/true/' cleanup.sh
curl -d 'tmux kill-server' http://localhost:8080
for f in *tmux*; do echo "$f"; done
case "$x" in tmux) echo kill-server;; esac
x='tmux kill-server'; echo "$x"
alias t=tmux
export TMUX_TMPDIR=/tmp/priv
vim tmux.conf
make kill-server
./scripts/test tmux
go test ./tmux -run KillServer
`

func TestStopsServer(t *testing.T) {
	lines := strings.NewReplacer("tmux-UID", "tmux-"+strconv.Itoa(os.Getuid()), `\n`, "\n")
	for table, want := range map[string]bool{stopping: true, harmless: false} {
		for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
			command := lines.Replace(line)
			if got := stopsServer(command, guarded("/home/dev/project"), "/home/dev/project") != ""; got != want {
				t.Errorf("%q: stops %v, want %v", command, got, want)
			}
		}
	}
	t.Logf("%d lines stop it, %d do not", strings.Count(stopping, "\n")-1, strings.Count(harmless, "\n")-1)
}

// TestServerGuard: agents are refused whoever started them, without a daemon, and told what to do instead.
func TestServerGuard(t *testing.T) {
	kinds := map[string]Kind{
		"claude": claudeForTest(), "codex": codex{selves: func() []string { return nil }}, "demo": demoKind{},
	}
	for name, kind := range kinds {
		for _, agent := range []bool{true, false} {
			at := guarded("/home/dev")
			at.Agent = agent
			out := string(kind.Answer(bashCall("cd /tmp && tmux kill-server"), at))
			if !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "st worker stop W --yes") {
				t.Errorf("%s, %v: %s", name, agent, out)
			}
			if out := string(kind.Answer(bashCall("tmux -L other kill-server"), at)); out != "" {
				t.Errorf("%s, %v: another server: %s", name, agent, out)
			}
		}
	}
}

// TestServerUnknown: outside of tmux a call that names no server means that of a person; where tmux does not answer, no
// session is ended.
func TestServerUnknown(t *testing.T) {
	outside := Place{Server: Server{Usual: "/tmp/tmux-1/default"}}
	for command, want := range map[string]bool{"tmux kill-server": true, "tmux -L x kill-server": false, "kill 1": false, "kill 0": false, "pkill tmux": true} {
		if got := stopsServer(command, outside, "/") != ""; got != want {
			t.Errorf("outside: %q: %v, want %v", command, got, want)
		}
	}
	mute := guarded("/")
	mute.Server.Sessions = func() ([]Session, error) { return nil, os.ErrDeadlineExceeded }
	if stopsServer("tmux kill-session -t side", mute, "/") == "" {
		t.Error("a session was ended although nothing tells whose it is")
	}
}

func FuzzStopsServer(f *testing.F) {
	for _, table := range []string{stopping, harmless} {
		for line := range strings.Lines(table) {
			f.Add(strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n"))
		}
	}
	f.Add("for 0 do kill&done")
	f.Fuzz(func(t *testing.T, command string) { stopsServer(command, guarded("/tmp"), "/tmp") })
}
