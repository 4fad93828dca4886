#!/bin/bash
# The same commits as the ledger's, by lock and git plumbing: parallel.sh RUN_FOLDER FIRST LAST
set -euo pipefail
lock="$(git rev-parse --absolute-git-dir)/bench.lock"
index="$(git rev-parse --absolute-git-dir)/bench-index.$$"
for number in $(seq "$2" "$3"); do
  name=$(printf 'task_%012d' "$number")
  path="$1/tasks/${name:5:1}/$name/task.md"
  mkdir -p "${path%/*}"
  exec 9>"$lock"
  flock 9
  head=$(git rev-parse HEAD)
  printf -- '---\nid: %s\ntitle: Task %s\nat: 2026-01-01T00:00:00.000Z\nby: Bench\ncriteria:\n- its test passes\n---\nChange it, then show it works.\n' "$name" "$number" >"$path"
  blob=$(git hash-object -w -- "$path")
  GIT_INDEX_FILE=$index git read-tree "$head"
  GIT_INDEX_FILE=$index git update-index --add --cacheinfo "100644,$blob,$path"
  tree=$(GIT_INDEX_FILE=$index git write-tree)
  commit=$(git commit-tree "$tree" -p "$head" -m "memento: task add $name")
  git update-ref refs/heads/main "$commit" "$head"
  git update-index --add --cacheinfo "100644,$blob,$path"
  exec 9>&-
done
rm -f "$index"
