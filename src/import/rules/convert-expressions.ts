/** `inputTransforms`: expressions with the paths that this service has. */
import { checkReference } from '../../config/checks/path-roots.ts'
import type { Endpoint } from '../../config/schema/schema.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { parseExpression } from '../../language/jsonata/expression.ts'
import type { DocumentPart } from './draft.ts'
import { withDataInExpression, withoutPaths } from './expression-edits.ts'
import type { PathContext } from './requests/convert-parameters.ts'

/** The defaults of the settings for expressions; here nothing is evaluated. */
const LIMITS = { timeoutMs: 1000, maxDepth: 500, maxSequence: 1_000_000 }

/** Removes transforms that do not run, before others are checked for what they read of them. */
export function dropUnusable(draft: DocumentPart): void {
  for (const transform of draft.at('inputTransforms').parts()) {
    const { value: text } = transform
    if (typeof text !== 'string') {
      transform.remove({ level: 'lost', reason: 'A transform is a text; every message failed at this one there.' })
      continue
    }
    const parsed = parseExpression(text, LIMITS)
    if (parsed.ok) continue
    transform.remove({
      level: 'lost',
      reason: `The transform is left out, since it does not run here: ${parsed.message}`,
    })
  }
}

export function convertExpressions(draft: DocumentPart, context: PathContext): void {
  for (const transform of draft.at('inputTransforms').parts()) convertExpression(transform, context)
}

function convertExpression(transform: DocumentPart, { form, lookups, endpoint }: PathContext): void {
  const { value: text, name } = transform
  if (typeof text !== 'string') return
  if (form === 'bare' && lookups.length > 0) {
    const moved = withDataInExpression(text, lookups)
    if (moved.text !== text) {
      transform.set(moved.text, { level: 'changed', reason: 'The data of a lookup is under "data" here.' })
    }
    if (moved.isWhole) {
      transform.note({
        level: 'differs',
        before: text,
        reason:
          'The expression reads the whole message ("$$", "$eval" or a wildcard), and lookups have "data" and "headers" here: check what it reads of them.',
      })
    }
  }
  const { text: found, removed } = withoutPaths(String(transform.value), (names) => isNothing(names, endpoint, name))
  if (removed.length === 0) return
  transform.set(found, {
    level: 'changed',
    reason: `There is nothing at ${removed.map((path) => `"${path}"`).join(', ')}, as there; "()" is the expression without a value.`,
  })
}

function isNothing(names: readonly string[], endpoint: Endpoint, reader: string): boolean {
  const lints: Lint[] = []
  checkReference(names, 'transform', endpoint, collectInto(lints), reader)
  return lints.some(({ severity }) => severity === 'error')
}
