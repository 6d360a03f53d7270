/**
 * `page` of a lookup: reads the pages of an answer, one after the other, each by the URL that the page before it gives. Never
 * a part of them: they are all read, or the lookup fails.
 */
import { Failure } from '../../core/failure.ts'
import { type Json, typeName } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Body } from '../../core/ports/destination.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint, LookupRequest } from '../../document/schema/schema.ts'
import type { PipelineSettings, Services } from '../services.ts'
import type { RequestCall } from './request-call.ts'
import { type CallScope, compileValue, createReader } from './request-parameters.ts'
import type { CallEnding } from './send-call.ts'

type SendPages<Result> = (first: PreparedRequest, body: Body | undefined, scope: CallScope, run: Run) => Promise<Result>

/**
 * Out: what `read` makes of the last page, with an array of the data of all. `read` gets the number of the page, from 0. `lint`
 * is at the lookup. Undefined if it has no `page`. Fails with LOOKUP_PAGING_FAILED, as the call of each page does, as `read`
 * does, and as the expression of the next page.
 */
export function compilePages<Result extends Readonly<{ data?: Json; headers: Json }>>(
  { page }: LookupRequest,
  call: RequestCall,
  read: CallEnding<Result>['answered'],
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): SendPages<Result> | undefined {
  if (page === undefined) return undefined
  const { max, next: written } = page
  const nextLint = lint.at('page', 'next')
  const readNext = compileValue(written, createReader('lookup-page', endpoint, services, settings), nextLint)
  const failed: Refuse = (sentence, path = nextLint.path, unquoted = sentence) => {
    const whole = (text: string) => `The pages of the lookup "${call.id}" cannot be read: ${text}.`
    return new Failure('LOOKUP_PAGING_FAILED', whole(sentence), { path, unquoted: whole(unquoted) })
  }
  const ending: CallEnding<Readonly<{ result: Result; status: number }>> = {
    answered: async (answer, run, index) => {
      try {
        return { result: await read(answer, run, index), status: answer.status }
      } catch (thrown) {
        answer.forget?.()
        throw thrown
      }
    },
    failed: (failure) => {
      throw failure
    },
  }
  return async (first, body, scope, run) => {
    const pages: Json[] = []
    const seen = new Set([URL.parse(first.url)?.href])
    let prepared = first
    for (;;) {
      const index = pages.length
      const { result, status } = await call.send(prepared, body, run, index, ending)
      const { data = null, headers } = result
      pages.push(data)
      const next = await readNext({ ...scope, page: { data, headers, status, index } }, run)
      const url = resolveNext(next, prepared.url, settings, failed)
      if (url === undefined) return { ...result, data: pages }
      if (seen.has(url)) throw failed(`the next page of page ${index + 1} was read before, so they never end`)
      if (pages.length === max) {
        throw failed(`there are more than ${max}; ask for larger pages, or raise "max"`, lint.at('page', 'max').path)
      }
      run.budget.spend(url.length, nextLint.path)
      seen.add(url)
      prepared = call.toUrl(prepared, url, scope)
    }
  }
}

type Refuse = (sentence: string, path?: string, unquoted?: string) => Failure

/** In: what the document read of the page at `base`. Out: the absolute URL of the next page; undefined after the last one. */
function resolveNext(
  next: Json | undefined,
  base: string,
  { requestUrlLimitBytes }: PipelineSettings,
  failed: Refuse,
): string | undefined {
  if (next === undefined || next === null || next === '') return undefined
  if (typeof next !== 'string') throw failed(`the URL of the next page must be a text, not ${typeName(next)}`)
  const before = new URL(base)
  const url = URL.parse(next, base)
  if (url === null) throw failed('the text for the next page is no URL')
  // The next page gets the headers of the first one, and so its credentials.
  if (url.origin !== before.origin) {
    const what = (origin: string) =>
      `the next page is at ${origin}, and would get the headers of this lookup; give a URL of the same origin`
    throw failed(
      what(url.origin === 'null' ? `a URL of ${url.protocol}` : url.origin),
      undefined,
      what('another origin'),
    )
  }
  url.username = before.username
  url.password = before.password
  url.hash = ''
  if (url.href.length <= requestUrlLimitBytes) return url.href
  throw failed(`the URL of the next page is longer than ${requestUrlLimitBytes} bytes (REQUEST_URL_LIMIT)`)
}
