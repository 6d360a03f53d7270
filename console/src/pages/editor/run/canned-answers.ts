/** Answers of other systems as the user edits them. */
import type { CannedAnswers } from '../../../api/given-parts.ts'
import type { CannedAnswer, RunCall, RunReport } from '../../../api/run-calls.ts'
import { memberNamed, readTree } from '../../../draft/json-places.ts'

/** An answer as typed. */
export type TypedAnswer = Readonly<{ status: string; contentType: string; body: string }>

const findHeader = (headers: Readonly<Record<string, unknown>> | undefined, name: string): string => {
  const found = Object.entries(headers ?? {}).find(([one]) => one.toLowerCase() === name)
  return typeof found?.[1] === 'string' ? found[1] : ''
}

/** The answer that the call got; an empty 200 where it had none. */
export const typedAnswer = ({ answer }: RunCall): TypedAnswer => ({
  status: String(answer?.status ?? 200),
  contentType: findHeader(answer?.headers, 'content-type') || 'application/json',
  body: answer?.body ?? '',
})

/** Why a typed answer cannot be used. */
export function statusFault(status: string): string | undefined {
  const value = Number(status)
  return Number.isInteger(value) && value >= 100 && value <= 599 ? undefined : 'A status is a number from 100 to 599.'
}

export const cannedFrom = ({ status, contentType, body }: TypedAnswer): CannedAnswer => ({
  status: Number(status),
  ...(contentType !== '' && { headers: { 'content-type': contentType } }),
  body,
})

/**
 * The answers with the one of a call replaced. A request with a forEach has an answer for each item, so the others of it
 * become what they were.
 */
export function withAnswer(
  answers: CannedAnswers,
  call: RunCall,
  given: CannedAnswer,
  report: RunReport,
): CannedAnswers {
  if (call.item === undefined) return { ...answers, [call.id]: given }
  const of = (report.calls ?? []).filter(({ kind, id }) => kind === call.kind && id === call.id)
  const items = of
    .toSorted((one, other) => (one.item ?? 0) - (other.item ?? 0))
    .map((one) => (one.item === call.item ? given : cannedFrom(typedAnswer(one))))
  return { ...answers, [call.id]: items }
}

/** The hosts that live lookups of a document would call, as its URLs name them. */
export function lookupHosts(text: string): readonly string[] {
  const list = memberNamed(memberNamed(readTree(text), 'requests'), 'lookup')
  const urls = (list?.children ?? []).map((one): unknown => memberNamed(memberNamed(one, 'config'), 'url')?.value)
  const hosts = urls
    .filter((url) => typeof url === 'string')
    .map((url) => /^[a-z]+:\/\/([^/?#]+)/i.exec(url)?.[1] ?? url)
  return [...new Set(hosts)]
}
