/** What entries would write, as a dry run of the service says. */

import { useQueries } from '@tanstack/react-query'
import { queries } from '../../../api/queries.ts'
import { applyToText } from '../../../draft/json-edits.ts'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { addTarget } from '../model/entry-edits.ts'
import { type MappingText, readMapping, withInner } from '../model/mapping-entries.ts'
import { newLineId, type Proposal } from '../model/proposals.ts'
import { computeCoverage, describeResult, type LineResult } from '../model/run-coverage.ts'
import { findResult } from '../model/shown-fields.ts'

export type Preview = Readonly<{ result?: LineResult | undefined; why?: string | undefined; isRunning: boolean }>

/** The request of a dry run of a draft on the loaded message. */
export type RequestFor = ((document: string) => string) | undefined

/** In: entries that may be added. Out: for each, what it would write; undefined where there is no message to try it on. */
export function usePreviews(
  mapping: MappingText,
  requestFor: RequestFor,
  proposals: readonly Proposal[],
): readonly (Preview | undefined)[] {
  const tried = proposals.map((proposal) => {
    const edited = addTarget({ ...mapping, ...proposal.within }, proposal.source, proposal)
    if (!edited.ok) return { proposal, why: edited.why }
    const text = applyToText(mapping.text, edited.edits)
    return { proposal, text, request: requestFor?.(text) }
  })
  const results = useQueries({
    queries: tried.map(({ request = '' }) => ({
      ...queries.mappingRun(request),
      enabled: request !== '',
      gcTime: 60_000,
    })),
  })
  return tried.map(({ proposal, text, request, why: notAdded }, at): Preview | undefined => {
    const { data, error, isFetching } = results[at] ?? {}
    if (notAdded !== undefined) return { why: notAdded, isRunning: false }
    if (request === undefined) return undefined
    if (error) return { why: error.message, isRunning: false }
    const next = readMapping(text)
    const id = newLineId(proposal, proposal.within?.id)
    const line = typeof next === 'string' ? undefined : withInner(next.lines).find((one) => one.id === id)
    const result = data && line && findResult(line, computeCoverage([data]))
    const fault = data?.lint.errors[0]?.message ?? data?.failure?.error
    const why = result === undefined || result.written === 0 ? fault : undefined
    return { result, why, isRunning: isFetching === true }
  })
}

export function PreviewText({ preview }: Readonly<{ preview: Preview | undefined }>) {
  if (preview === undefined) return <span className="hint">Load a message to see what it writes.</span>
  const { result, why, isRunning } = preview
  if (why !== undefined) return <span className="fault">{why}</span>
  if (result === undefined) return <span className="hint">{isRunning ? 'Running …' : 'It was not reached.'}</span>
  return <WrittenPaths result={result} />
}

/** The places that a target wrote, with their values. */
export function WrittenPaths({ result }: Readonly<{ result: LineResult }>) {
  if (result.written === 0) return <span className="hint">It {describeResult(result)}.</span>
  return (
    <ul className="written-places stack breaks">
      {result.places.map((place, at) => (
        <li key={place}>
          <VisibleText code text={place} max={200} />{' '}
          <VisibleText
            as="code"
            className="written-value"
            text={JSON.stringify(result.samples[at] ?? null)}
            max={200}
          />
        </li>
      ))}
      {result.written > result.places.length && (
        <li className="quiet">… {(result.written - result.places.length).toLocaleString('en')} more places</li>
      )}
    </ul>
  )
}
