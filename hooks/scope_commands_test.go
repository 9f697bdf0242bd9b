package hooks

import (
	"strings"
	"testing"
)

// scopePasses are commands that edit nothing outside the scope, one a line; \n stands for a line break, TMP for the folder of temporary files.
const scopePasses = `
echo x > api/a.go
echo x >> api/new.go
echo x > README.md
echo x >| ./api/../api/a.go
cd api && echo x > a.go
cd api; sed -i s/a/b/ a.go
(cd web && cat w.js) > api/a.go
echo x > /dev/null 2>&1
make 2>/dev/null
cat web/w.js
grep -rn x . | head
go test ./... 2>&1 | tee TMP/out.txt
echo x > TMP/x
f=api/a.go; echo x > $f
D=api; sed -i 's/a/b/' "$D/a.go" ${D}/b.go
for f in api/a.go api/b.go; do sed -i s/a/b/ $f; done
sed -n 1,5p web/w.js
sed s/a/b/ web/w.js > api/a.go
sed -i.bak -e s/a/b/ api/a.go
sed -i s/a/b/ api/*.go
perl -pi -e s/a/b/ api/a.go
tee api/a.go < web/w.js
tee -a api/a.go <<< x
cp web/w.js api/
cp web/w.js api/w.js
cp -r api/sub api/sub2
mv api/a.go api/z.go
mv api/a.go api/b.go api/sub
rm api/a.go
rm -f api/*.go
rm -rf api/sub
mkdir -p api/x/y
mkdir api
touch api/t.go
truncate -s 0 api/a.go
dd if=/dev/zero of=api/d bs=1 count=1
ln -s ../web/w.js api/link
ln api/a.go api/hard.go
install -m 644 web/w.js api/i.js
chmod +x api/a.go
cat > api/a.go <<EOF\nrm web/w.js\nEOF
git status
git add -A
git commit -m 'rm web/w.js > main.go'
git checkout -- api/a.go
git checkout main
git checkout -b topic
git restore api/a.go
git restore --staged web/w.js
git mv api/a.go api/m.go
git rm api/b.go
git diff > TMP/d
git stash list
git clean -n
git apply fix.diff
git apply --check bad.diff
git -C api checkout -- a.go
git log --oneline
sort -o api/a.go api/b.go
curl -o api/x.json http://localhost/
find . -name '*.o'
find api/sub -name '*.go' -delete
find api/sub -type f -exec rm {} +
find api/sub -name '*.go' | xargs sed -i s/a/b/
grep -rl x api/sub | xargs rm
ls web | xargs echo
gofmt -l .
gofmt -w api/a.go api/sub
apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: api/a.go\n*** Move to: api/y.go\n*** End Patch\nEOF
python3 -c "print(open('web/w.js').read())"
python3 -c "open('api/a.go','w').write('x')"
python3 - <<'EOF'\np = "api/a.go"\ns = open(p).read()\nopen(p, "w").write(s)\nEOF
t=$(mktemp); echo x > $t; mv $t api/a.go
bash -c 'echo x > api/a.go'
sh script.sh
npm test
st worker done --summary 'rm web/w.js > main.go'
echo 'echo x > web/w.js'
[[ a > b ]]
cat web/w.js | sed s/a/b/ | sort > api/a.go
cd .. ; cd project && echo x > api/a.go
web/in/tool > api/a.go
sed -i '' s/a/b/ api/a.go
sed -i -E -e 's/(a)/b/' -e 's/c/d/' api/a.go api/b.go
make 2> >(tee api/log >&2)
diff <(sort api/a.go) <(sort api/b.go) > api/d
echo x > "${NOBODYS:-TMP}/x"
echo x > "$(pwd)/api/a.go"
cd "$(git rev-parse --show-toplevel)" && echo x > api/a.go
echo x > "$(git rev-parse --show-toplevel)/api/a.go"
exec 3<>/dev/tcp/localhost/80
x=$((3 > 2)); echo $x
test 1 -gt 0 && touch api/t
echo x > web/in/a.go
curl -s http://localhost/ | python3 -m json.tool
bash --version
python3 -V
bash script.sh
bash < script.sh
node --test
go test ./...
go fmt ./api/sub/...
npx prettier --write api/a.go
npx prettier --check web
cargo build
cargo fmt --check
ruff check web
awk '{ print > "api/a.go" }' web/w.js
awk '$1 > 5' web/w.js
ruby -e 'puts 1' web/w.js
ruby -i -pe '1' api/a.go
git am fix.diff
git am --abort
git diff --output=api/d
git archive -o TMP/a.tar HEAD
git format-patch --stdout HEAD~1
git switch main
git config user.name x
yq .a web/w.js
yq -i '.a=1' api/a.go
split -b 1 web/w.js api/sub/x
python3 -c "from pathlib import Path; Path('api/a.go').write_text('x')"
tar -C web -cf api/a.tar .
tar -tf a.tar
tar --exclude=x -cf TMP/a.tar web
tar -C api/sub -xf a.tar
tar xOf a.tar x
tar xfC a.tar api/sub
uniq web/w.js api/o
uniq -c web/w.js
rename s/a/b/ api/a.go
rename .go .txt api/a.go
wget -qO- http://localhost/x
wget -P api/sub http://localhost/x
wget --spider http://localhost/x
curl -sD - -o /dev/null http://localhost/
curl -O --output-dir api/sub http://localhost/x
find web | cpio -pd api/x
cpio -it < a.cpio
pax -rw web api/x
ar t web/l.a
ar rcs api/l.a api/o.o
mktemp
mktemp -d
mktemp -p api
mktemp -p TMP x.XXXX
fallocate -l 1 api/f
setfacl -m u:1:r api/a.go
xxd web/w.js
xxd web/w.js api/x
iconv -f latin1 web/w.js
iconv -o api/x web/w.js
strip -o api/s web/bin
objcopy web/bin api/bin
script -qc true /dev/null
history
tree -L 2
tmux save-buffer api/x
tmux show-buffer
python3 -m venv api/v
python3 -m json.tool web/x.json
dpkg -x a.deb api/sub
dpkg -l
git checkout-index api/a.go
git sparse-checkout list
git submodule foreach git status
git submodule update --init
git bisect run go test ./api
git rebase -x 'go test ./...' main
GIT_SEQUENCE_EDITOR=true git rebase -i main
GIT_PAGER=cat git log
git -c core.pager=cat log
git -c user.name=x commit -m y
git -c alias.q='!git status' q
git grep -n x
git grep -Oless x
git difftool -x diff HEAD
git bundle create api/b HEAD
git bundle verify web/b
git init api/sub/r
awk '{ print | "sort" }' web/w.js
awk '{ print | "tee api/a.go" }' web/w.js
awk '{ "date" | getline d; print d }' web/w.js
awk '/a|b/ { print "x" }' web/w.js
awk 'BEGIN { system("ls web") }'
awk '{ print }' file_system
awk -v f=api/a.go '{ print > f }' web/w.js
awk '{ print (a > b), "a > b" }' web/w.js
sed -n '/w x/p; s/a/w b/gp' web/w.js
sed -n 'w api/x' web/w.js
sed -e '1,3s/a/b/w api/x' -e '$!N;y/ab/we/;P;D' web/w.js
sed '/^export/!d' web/w.js
ex -sc 'w api/b.go' api/a.go
vim -es '+%s/w x/y/' -c wq api/a.go
sqlite3 -readonly web/db '.mode csv' 'select 1'
sqlite3 web/db <<EOF\n.output api/x\nselect 1;\nEOF
crontab -l
docker run --rm -v DIR/web:/w:ro img true
docker run -v "$PWD/api/sub:/w" img sh
docker ps
rg --pre pdftotext x web
rg x web
strace -o TMP/log -f go test ./...
/usr/bin/time -o api/t go build ./...
fd . api/sub -x gofmt -w
gdb -batch -ex run web/bin
php -r 'echo file_get_contents("web/w.js");'
`

// scopeRefuses are commands that would edit something outside the scope, or do not tell what.
const scopeRefuses = `
bash
bash -i
exec bash -l
env FOO=1 sh
python3
python3.12 -i
cd api && node
echo x > web/w.js
echo x >> main.go
echo x > api/gen/g.go
echo x > docs/a.md
echo x > API/a.go
: > web/w.js
> web/w.js
echo x &> web/log
echo x 2> web/log
echo x <> web/w.js
make > build.log 2>&1
echo x > ../project/web/w.js
echo x > api/../web/w.js
echo x > DIR/web/w.js
echo x > ../far/f.txt
echo x > ~/st.db
echo x > $HOME/x
echo x > api/out/w.js
echo x > api/far.txt
echo x > api/new
cd web && echo x > w.js
cd api && echo x > ../main.go
cd "$SOMEWHERE" && echo x > a.go
cd - && echo x > a.go
echo x > "$FILE"
echo x > $OUT/w.js
f=web/w.js; echo x > $f
for f in api/a.go web/w.js; do sed -i s/a/b/ $f; done
for f in $(ls); do rm $f; done
while read f; do rm "$f"; done < list
sed -i s/a/b/ web/w.js
sed -i.bak s/a/b/ main.go
sed --in-place -e s/a/b/ api/a.go main.go
sed -ni s/a/b/p main.go
sed -i s/a/b/ api/a.go web/*.js
sed -i s/a/b/ *.go
perl -pi -e s/a/b/ main.go
perl -i -pe s/a/b/ main.go
tee web/w.js < api/a.go
cat api/a.go | tee main.go
cat api/a.go | sudo tee main.go
cp api/a.go web/
cp api/a.go main.go
cp api/a.go .
cp -t web api/a.go
cp -r api/sub web
cp web/w.js api/gen/
mv api/a.go web/a.go
mv web/w.js api/w.js
mv main.go api/
rm main.go
rm -rf web
rm -rf api
rm -rf .
rm -rf *
rm -rf /
rm -rf ..
rm api/*.go web/*
rm {api/a.go,main.go}
unlink web/w.js
mkdir web/new
touch web/t main.go
truncate -s 0 main.go
dd if=/dev/zero of=main.go
ln -sf ../api/a.go web/link
ln web/w.js api/hard.js
ln -s ../web api/l && echo x > api/l/w.js
install -m 644 api/a.go web/
chmod +x web/w.js
chmod -R g+w .
git checkout -- web/w.js
git checkout -- .
git checkout .
git checkout HEAD -- main.go
git checkout HEAD web/w.js
git checkout -f
git restore web/w.js
git restore .
git restore -s HEAD -- main.go
git mv api/a.go web/a.go
git mv web/w.js api/w.js
git rm web/w.js
git rm -r api
git reset --hard
git reset --hard HEAD~1
git clean -fd
git clean -fdx web
git stash
git stash pop
git apply bad.diff
git apply none.diff
git apply <<'EOF'\n--- a/web/w.js\n+++ b/web/w.js\nEOF
git -C web checkout -- w.js
git worktree add ../other
patch -p1 < some.diff
patch -p1 -i bad.diff
sort -o main.go api/b.go
curl -o web/x.json http://localhost/
curl -O http://localhost/x.json
wget http://localhost/x -O main.go
tar xf a.tar
tar -xzf a.tgz -C web
unzip a.zip
find . -name '*.go' -delete
find web -type f -exec rm {} +
find . -name '*.go' -exec sed -i s/a/b/ {} \;
find . -name '*.go' | xargs sed -i s/a/b/
grep -rl x . | xargs rm
git ls-files | xargs rm
cat list | xargs rm
xargs rm < list
gofmt -w .
prettier --write web
black .
apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: web/w.js\n*** End Patch\nEOF
apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: api/a.go\n*** Move to: web/a.go\n*** End Patch\nEOF
apply_patch "$(cat p)"
python3 -c "open('web/w.js','w').write('x')"
python3 - <<'EOF'\np = "main.go"\ns = open(p).read()\nopen(p, "w").write(s)\nEOF
python3 - <<'EOF'\nfrom pathlib import Path\nPath("main.go").write_text("x")\nEOF
python3 - <<'EOF'\nimport sys\nopen(sys.argv[1], "w").write("x")\nEOF
node -e 'require("fs").writeFileSync("main.go", "x")'
bash -c 'echo x > main.go'
sh -c 'cd web && echo x > w.js'
eval 'echo x > main.go'
sudo sh -c 'echo x > main.go'
echo 'echo x > main.go' | sh
bash <<EOF\necho x > main.go\nEOF
env A=b cp api/a.go main.go
timeout 5 cp api/a.go main.go
(cd web; touch t)
{ touch main.go; }
x=$(touch main.go)
if true; then rm main.go; fi
f() { rm main.go; }; f
vim -c wq main.go
echo 'unfinished > main.go
make 2> >(tee log >&2)
echo x > "${OUT_OF_NOBODY:-web}/x"
echo x > "$(git rev-parse --show-toplevel)/web/w.js"
install -m 644 api/a.go main.go
sed -i '' s/a/b/ main.go
echo x > HOMEDIR/orch/r1/d1.md
go fmt ./web/...
go fmt ./...
npx prettier --write web
npx --package=x prettier --write web
cargo fmt
cargo +nightly fmt
ruff check --fix web
ruff format
biome check --write web
awk '{ print > "web/w.js" }' api/a.go
ruby -i -pe '1' web/w.js
ruby -i.bak -pe '1' main.go
git am bad.diff
git am none.diff
git diff --output=web/d
git diff --output web/d
git archive -o main.go HEAD
git format-patch -o web HEAD~1
git format-patch HEAD~1
git switch -f main
git read-tree -u --reset HEAD~1
git config --file web/d a.b c
yq -i '.a=1' web/w.js
split -b 1 api/a.go web/x
split api/a.go
csplit api/a.go 1
openssl rand -out web/d 4
python3 -c "from pathlib import Path; (Path('web')/'d').write_text('x')"
python3 - <<'EOF'\nfrom pathlib import Path\n(Path('web') / 'd').write_text('x')\nEOF
tar -C web -xf a
tar -xf a -C web
tar --extract --file=a
tar xfC a web
tar -C web -cf main.tar .
uniq api/a.go web/o
rename s/a/b/ web/w.js
rename .js .ts web/w.js
wget http://localhost/x
wget -q -P web http://localhost/x
wget -qOmain.go http://localhost/x
curl -D web/h http://localhost/
curl -c web/jar http://localhost/
curl -O --output-dir web http://localhost/x
find api | cpio -pd web
cpio -i < a.cpio
pax -rw api web
pax -r -f a.pax
ar r web/l.a api/o.o
ar x api/l.a
mktemp -p web
mktemp web/x.XXXX
fallocate -l 1 web/f
setfacl -m u:1:r web/w.js
xxd api/a.go web/x
xxd -r api/a.go web/x
iconv -o web/x api/a.go
strip web/bin
objcopy api/bin web/bin
script web/log
script -c true
history -w web/h
tree -o web/t
tmux save-buffer web/x
python -m venv web/v
python3.12 -m venv web/v
virtualenv web/v
dpkg -x a.deb web
git checkout-index -af
git checkout-index -f web/w.js
git sparse-checkout set api
git submodule foreach 'echo x > f'
git bisect run sed -i s/a/b/ main.go
git rebase -x 'echo x > main.go' main
git rebase --exec='echo x > main.go' main
git filter-branch --tree-filter true HEAD
GIT_SEQUENCE_EDITOR='tee web/w.js' git rebase -i main
GIT_PAGER='tee main.go' git log
export GIT_PAGER='tee main.go'; git log
git -c core.pager='tee main.go' log
git -c alias.q='!echo x > main.go' q
git grep -O'rm main.go #' x
git grep --open-files-in-pager='tee main.go' x
git difftool -x 'cp api/a.go main.go #' HEAD
git bundle create web/b HEAD
git init web/r
awk '{ print | "tee web/w.js" }' api/a.go
awk '{ "touch main.go" | getline }' api/a.go
awk 'BEGIN { system("rm main.go") }'
awk '{ system($1) }' api/a.go
awk -v f=main.go '{ print > f }' api/a.go
awk '{ print $2 >> $1 }' api/a.go
sed -n 'w main.go' api/a.go
sed -n '/x/,$ { s/a/b/gw main.go\n}' api/a.go
sed 's/a/rm main.go/e' api/a.go
sed '1e rm main.go' api/a.go
sed -n -e p -e 'w web/w.js' api/a.go
ex -sc 'w! main.go' api/a.go
vim -es +'w main.go|q' api/a.go
vi -c '!rm main.go' api/a.go
ed -s api/a.go <<EOF\nw main.go\nq\nEOF
sqlite3 api/db '.output main.go' 'select 1'
sqlite3 api/db <<EOF\n.once web/x\nselect 1;\nEOF
crontab api/a.go
docker run --rm -v DIR:/w img rm -rf /w/web
docker run --mount type=bind,source=DIR/web,target=/w img sh
podman run -v "$PWD:/w" img sh
rg --pre rm x web
strace -o main.go true
ltrace --output=main.go true
/usr/bin/time -o main.go true
chroot / rm DIR/main.go
gdb -batch -ex 'shell rm main.go' api/bin
fdfind . web -x rm
php -r 'file_put_contents("main.go", "x");'
`

func TestScopeCommands(t *testing.T) {
	at, dir := scopedPlace(t)
	lines := strings.NewReplacer(`\n`, "\n", "TMP", at.Env("TMPDIR"), "HOMEDIR", at.Env("HOME"), "DIR", dir)
	for table, want := range map[string]bool{scopePasses: false, scopeRefuses: true} {
		for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
			command := lines.Replace(line)
			why := refusal(command, nil, at, dir)
			if (why != "") != want {
				t.Errorf("%q: %q", command, why)
			}
		}
	}
	t.Logf("%d lines pass, %d do not", strings.Count(scopePasses, "\n")-1, strings.Count(scopeRefuses, "\n")-1)
}
