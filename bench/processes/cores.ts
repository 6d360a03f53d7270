/** Keeps the server under load and what loads it from taking turns on one core. */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export type Command = readonly [program: string, ...args: string[]]

/** `both`: either core, for measurements that do not compare loads. */
export type Role = 'server' | 'load' | 'both'

const CORES: Readonly<Record<Role, string>> = { server: '0', load: '1', both: '0,1' }

/** Whether each role has a core of its own here: two cores, and `taskset` of util-linux, are needed. */
export const pinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0

/** The command that runs `command` on the cores of its role. The process is the same, so its id is too. */
export function onCores(role: Role, command: Command): Command {
  return pinned ? ['taskset', '-c', CORES[role], ...command] : command
}

/** Moves this process, which reads the output of the servers, to the core of the load. */
export function stayOffTheServersCore(): void {
  if (pinned) spawnSync('taskset', ['-a', '-c', '-p', CORES.load, String(process.pid)])
}
