/** A document from pairs of messages and what they become, with what it needs: tables and tests. */
import { ApiFailure } from './api-failure.ts'
import type { Schemas } from './client.ts'
import { suggestEntries } from './mapping-calls.ts'
import type { StoredTest } from './run-calls.ts'
import type { TableFile } from './table-calls.ts'

export type Example = NonNullable<Schemas['SuggestRequest']['examples']>[number]
/** For targets of questions, the candidates that were chosen. */
export type Answers = Readonly<Record<string, string>>
type Suggestions = Schemas['Suggestions']
export type Question = NonNullable<Suggestions['questions']>[number]
export type Evidence = NonNullable<Suggestions['evidence']>[number]
export type Derived = Required<Pick<Suggestions, 'endpoint' | 'tables' | 'evidence' | 'questions' | 'heldBack'>> &
  Readonly<{ cut: boolean; notRead?: Suggestions['notRead']; tests?: readonly StoredTest[]; answers: Answers }>

export type ExamplesRequest = Readonly<{
  examples: readonly Example[]
  answers: Answers
  name?: string
  pattern?: string
}>

/**
 * In: `document`, as text, that the mapping is for; without it, a new one is made. Out: the document, with the answers that
 * still name a candidate. Fails with an ApiFailure.
 */
export async function deriveDocument(request: ExamplesRequest, document: string | undefined): Promise<Derived> {
  const { answers } = request
  const parts = [JSON.stringify(request).slice(1, -1), ...(document === undefined ? [] : [`"endpoint":${document}`])]
  try {
    return { ...((await suggestEntries(`{${parts.join(',')}}`)) as Omit<Derived, 'answers'>), answers }
  } catch (thrown) {
    const paths = thrown instanceof ApiFailure ? thrown.details.map(({ path }) => path) : []
    const known = Object.entries(answers).filter(
      ([target]) => !paths.includes(`answers.${target.replaceAll('.', '\\.')}`),
    )
    if (known.length === Object.keys(answers).length) throw thrown
    return deriveDocument({ ...request, answers: Object.fromEntries(known) }, document)
  }
}

/** The rows of a table as its file. */
export const toTableFile = (rows: Derived['tables'][string]): TableFile => ({
  content: new Blob([JSON.stringify(rows)]),
  mediaType: 'application/json',
})
