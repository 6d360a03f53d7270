/** The commands on a project in a folder of its own, against a service of this process. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { folderOf } from '../project/folder.ts'
import { type CommandOptions, type CommandOutcome, type CommandSurroundings, runCommand } from '../run-command.ts'

export type ProjectRig = Readonly<{
  folder: string
  run(
    command: 'diff' | 'apply' | 'pull',
    options?: CommandOptions,
    surroundings?: CommandSurroundings,
  ): Promise<CommandOutcome>
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
    run: (command, options, surroundings) => runCommand(command, [], { project: folder, ...options }, surroundings),
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
