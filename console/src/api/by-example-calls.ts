/** A document from pairs of messages and what they become, with what it needs: tables and tests. */
import { ApiFailure } from './api-failure.ts'
import type { Schemas } from './client.ts'
import { suggestEntries } from './mapping-calls.ts'
import type { StoredTest } from './run-calls.ts'

type Request = Schemas['SuggestRequest']
export type Example = NonNullable<Request['examples']>[number]
/** For targets of questions, the candidates that were chosen. */
export type Answers = Readonly<Record<string, string>>
type Parts = 'endpoint' | 'tables' | 'evidence' | 'questions' | 'heldBack' | 'cut'
export type Derived = Required<Pick<Schemas['Suggestions'], Parts>> &
  Readonly<{ notRead?: Schemas['Suggestions']['notRead']; tests: readonly StoredTest[]; answers: Answers }>

/**
 * In: `document`, as text, that the mapping is for; without it, a new one is made. Out: the document, with the answers that
 * still name a candidate. Fails with an ApiFailure.
 */
export async function deriveDocument(
  request: Pick<Request, 'examples' | 'name' | 'pattern'> & Readonly<{ answers: Answers }>,
  document: string | undefined,
): Promise<Derived> {
  const { answers } = request
  const base = document === undefined ? '' : `,"endpoint":${document}`
  try {
    const derived = await suggestEntries(`${JSON.stringify(request).slice(0, -1)}${base}}`)
    return { ...(derived as unknown as Derived), answers }
  } catch (thrown) {
    const paths = thrown instanceof ApiFailure ? thrown.details.map(({ path }) => path) : []
    const isKnown = (target: string) => !paths.includes(`answers.${target.replaceAll('.', '\\.')}`)
    const known = Object.entries(answers).filter(([target]) => isKnown(target))
    if (known.length === Object.keys(answers).length) throw thrown
    return deriveDocument({ ...request, answers: Object.fromEntries(known) }, document)
  }
}
