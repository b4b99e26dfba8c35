#!/usr/bin/env bash
# publish.sh [--check] FOLDER OWNER/NAME: publishes the packages of a release that lie in the folder, as the release workflow
# does. With --check it only says whether that could work. It can be run again: versions that are on npm already are left out.
# docs/install.md says what has to be done on npm before the first release.
set -euo pipefail
shopt -s nullglob

fail() {
  echo "publish.sh: $*" >&2
  exit 1
}

# A field of the package.json inside a packed package: `cargo xtask dist` writes one on each line.
field() {
  tar -xzOf "$1" package/package.json | sed -n "s/^  \"$2\": \"\(.*\)\",\{0,1\}\$/\1/p"
}

# What npm says of a package; nothing of one that it does not know, or that it cannot be asked about.
known() {
  npm view "$1" "$2" 2>/dev/null || true
}

is_higher() {
  [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort --version-sort | tail -n 1)" = "$1" ]
}

# Trusted publishing needs a package that exists, and npm makes no lower version the latest one.
check() {
  local name version owner latest
  name=$(field "$1" name)
  version=$(field "$1" version)
  owner=$(known "$name" repository.url)
  latest=$(known "$name" dist-tags.latest)
  [ -n "$latest" ] || fail "npm knows no $name, or cannot be reached: its first version is published by hand (docs/install.md)"
  [ "$owner" = "git+https://github.com/$repository.git" ] ||
    fail "$name on npm belongs to ${owner:-somebody who names no repository}, not to $repository (docs/install.md)"
  ! is_higher "$latest" "$version" || fail "$name on npm is at $latest, which is higher than $version"
}

publish() {
  local name version
  name=$(field "$1" name)
  version=$(field "$1" version)
  if [ "$(known "$name@$version" version)" = "$version" ]; then
    echo "$name@$version is there already"
  else
    npm publish "$1" --provenance --access public --ignore-scripts
  fi
}

only_check=false
if [ "${1:-}" = --check ]; then
  only_check=true
  shift
fi
[ $# = 2 ] || fail "usage: publish.sh [--check] FOLDER OWNER/NAME"
folder=$(cd "$1" && pwd)
repository=$2
# The packages of the platforms come first: nobody may get a launcher without them.
packages=("$folder"/mobile-debug-mcp-{linux,darwin,win32}-*.tgz "$folder"/mobile-debug-mcp-[0-9]*.tgz)
[ ${#packages[@]} = 7 ] || fail "$folder holds ${#packages[@]} packages instead of six platforms and the launcher"
for package in "${packages[@]}"; do check "$package"; done
if ! "$only_check"; then
  for package in "${packages[@]}"; do publish "$package"; done
fi
