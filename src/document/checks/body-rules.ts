/** The rules of what requests send: the body and the pages of a lookup, and the mapping of a response request. */
import { sendsNoBody } from '../../core/http.ts'
import type { LintSink } from '../../core/lint.ts'
import { targetOf } from '../../outbound/targets.ts'
import type { LookupRequest, ResponseRequest } from '../schema/schema.ts'

/** Lints at the lookup. */
export function lintBody(request: LookupRequest, lint: LintSink): void {
  const { body } = request.config
  if (body === undefined) return
  const sink = lint.at('config', 'body')
  if (request.forwardExistingRequestBody === true) {
    sink.error('"forwardExistingRequestBody" sends the incoming body, and this sends another; leave one out.')
  }
  if (isBodiless(request)) {
    sink.error(`A ${request.config.method} has no body; write "method": "POST", or the method that the target expects.`)
  }
}

/** Lints at the response request. */
export function lintOwnMapping(request: ResponseRequest, lint: LintSink): void {
  if (request.mapping === undefined || !isBodiless(request)) return
  lint
    .at('mapping')
    .error(`A ${request.config?.method} sends no body; choose another method, or leave the mapping out.`)
}

/** Lints at the lookup. */
export function lintPage(request: LookupRequest, lint: LintSink): void {
  const { page, forEach, config } = request
  if (page === undefined) return
  const sink = lint.at('page')
  if (forEach !== undefined)
    sink.error('A lookup with "forEach" makes one call for each item; leave "page" or "forEach" out.')
  if (config.method !== 'GET' || !targetOf(request).isHttp)
    sink.error('Pages are read with GET, by HTTP; leave "page" out.')
}

const isBodiless = (request: LookupRequest | ResponseRequest): boolean =>
  targetOf(request).isHttp && sendsNoBody(request.config?.method)
