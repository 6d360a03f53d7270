/** `crosswalk render`: prints the documents of a project as a service would get them. */
import { isWarning } from '../core/lint.ts'
import type { Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { readDesired, readTarget } from './deployment/service.ts'
import { formatLint, locateLints } from './project/located-lint.ts'

export async function run(given: Given<'render'>, terminal: Terminal): Promise<Ending<'render'>> {
  const documents = readDesired(readTarget(given))
  for (const { source } of documents) {
    for (const lint of locateLints(source.file, source.lints.filter(isWarning), source.positions)) {
      terminal.note(formatLint(lint))
    }
  }
  terminal.writeJson(documents.map(({ document }) => document))
  return 'done'
}
