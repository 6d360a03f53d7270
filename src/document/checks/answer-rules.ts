/** The rules of `answer` that need no compiling. */
import type { LintSink } from '../../core/lint.ts'
import { mayBePassedOn } from '../../language/headers.ts'
import { hasCaller } from '../doors.ts'
import { type Endpoint, mapsAnswer } from '../schema/schema.ts'
import { lintHeaders } from './request-rules.ts'

/** Lints at `answer`: headers that no answer may have, a `type` of nothing, and an answer that no caller waits for. */
export function lintAnswer(endpoint: Endpoint, lint: LintSink): void {
  const { answer } = endpoint
  if (answer === undefined) return
  if (!hasCaller(endpoint)) {
    lint.warning('"answer" has no effect, since no caller waits for an answer of this endpoint; leave it out.')
  }
  const { headers = {}, type } = answer
  const [own, others] = partition(Object.entries(headers), ([name]) => isOwn(name.toLowerCase()))
  lintHeaders(Object.fromEntries(own), lint.at('headers'))
  for (const [name] of others) {
    const instead = name.toLowerCase() === 'content-type' ? 'give "type" and "mapping"' : 'leave it out'
    lint.at('headers', name).error(`The header "${name}" is set by the service; ${instead}.`)
  }
  if (type !== undefined && !mapsAnswer(endpoint)) {
    lint.at('type').error('"type" is the format of what "mapping" makes; give "mapping" as well, or leave it out.')
  }
}

const isOwn = (name: string): boolean => name !== 'content-type' && mayBePassedOn(name)

const partition = <Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
]
