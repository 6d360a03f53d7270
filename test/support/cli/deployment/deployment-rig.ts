/** The commands on a project in a folder of its own, against a service of this process. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runApply } from '../../../../src/cli/deployment/run-apply.ts'
import { runDiff } from '../../../../src/cli/deployment/run-diff.ts'
import { runPull } from '../../../../src/cli/deployment/run-pull.ts'
import type { AskingProcess } from '../../../../src/cli/deployment/service-command.ts'
import type { Json, JsonObject } from '../../../../src/domain/json.ts'
import { folderOf } from '../project/folder.ts'

export type CommandOutcome = Readonly<{ code: number; stdout: string; stderr: string }>

const COMMANDS = { diff: runDiff, apply: runApply, pull: runPull } as const

type RunOptions = Readonly<{ env?: Readonly<Record<string, string>>; answer?: string }>

/** Runs one command in this process. `answer`: what a person types; without it there is no terminal. */
export async function runAs(
  work: (process: AskingProcess) => Promise<number>,
  { env = {}, answer }: RunOptions = {},
): Promise<CommandOutcome> {
  const written = { stdout: '', stderr: '' }
  const into = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text
    },
  })
  const ask = async (question: string): Promise<string> => {
    written.stderr += question
    return answer ?? ''
  }
  const process = { env, stdout: into('stdout'), stderr: into('stderr'), ask: answer === undefined ? undefined : ask }
  const code = await work(process)
  return { code, ...written }
}

export type ProjectRig = Readonly<{
  folder: string
  run(command: keyof typeof COMMANDS, options?: JsonObject, more?: RunOptions): Promise<CommandOutcome>
  write(name: string, content: Json): void
  read(name: string): JsonObject
  /** All files with endpoints, by name. */
  files(): Readonly<Record<string, string>>
}>

/** `endpoints`: documents by the name of their file, without `.json`. */
export function projectRig(
  context: { after(work: () => void): void },
  url: string,
  endpoints: Readonly<Record<string, Json>>,
  more: JsonObject = {},
): ProjectRig {
  const labels = { project: 'test' }
  const project = { labels, targets: { test: { url, values: { HOST: 'host.test', UNUSED: 'x' } } }, ...more }
  const files = Object.entries(endpoints).map(([name, document]) => [`endpoints/${name}.json`, document])
  const folder = folderOf(context, { 'crosswalk.json': project, ...Object.fromEntries(files) })
  return {
    folder,
    run: (command, options = {}, rest = {}) =>
      runAs((process) => COMMANDS[command]({ project: folder, ...options } as never, process), rest),
    write: (name, content) =>
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content)),
    read: (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')),
    files: () => {
      const names = readdirSync(join(folder, 'endpoints'), { recursive: true, encoding: 'utf8' })
      const documents = names.filter((name) => name.endsWith('.json')).sort()
      return Object.fromEntries(documents.map((name) => [name, readFileSync(join(folder, 'endpoints', name), 'utf8')]))
    },
  }
}
