import { type ChildProcess, spawn } from 'node:child_process';

/**
 * A shell that outlives this process by a moment. It reads lines from a pipe; when the pipe closes, for whatever
 * reason (also `kill -9`), it stops every process still on its list (TERM, after 10 s KILL) and removes the folders.
 */
const GUARD = `
pids=' '
while read -r op what; do
  case "$op" in
    +) pids="$pids$what " ;;
    -) pids="\${pids%% $what *} \${pids#* $what }" ;;
    d) set -- "$@" "$what" ;;
  esac
done
for pid in $pids; do kill -TERM "$pid" 2>/dev/null; done
tries=0
while [ $tries -lt 100 ]; do
  alive=''
  for pid in $pids; do kill -0 "$pid" 2>/dev/null && alive=yes; done
  [ -z "$alive" ] && break
  tries=$((tries + 1))
  sleep 0.1
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
for dir in "$@"; do rm -rf -- "$dir"; done
exit 0
`;

let guard: ChildProcess | undefined;

function tell(line: string): void {
  if (!guard) {
    // Detached: a Ctrl-C in the terminal reaches the whole foreground group and must not reach the guard.
    guard = spawn('sh', ['-c', GUARD, 'orphan-guard'], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
    guard.stdin?.on('error', () => {});
  }
  guard.stdin?.write(`${line}\n`);
}

/** From now on the process `pid` ends when this process ends, however that happens. */
export function guardProcess(pid: number): void {
  tell(`+ ${pid}`);
}

/** The process has ended by itself; call it at once, the system may give its number to another. */
export function unguardProcess(pid: number): void {
  tell(`- ${pid}`);
}

/** From now on the folder is removed when this process ends. Removing it earlier is no problem. */
export function guardFolder(dir: string): void {
  tell(`d ${dir}`);
}
