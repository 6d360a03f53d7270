/** The rules between the fields of `config.auth` of a request. */
import type { LintSink } from '../../core/lint.ts'
import type { NamedTarget } from '../../outbound/targets.ts'
import type { LookupRequest, ResponseRequest } from '../schema/schema.ts'

const HEADER_AUTH = ['basic', 'bearer', 'oauth2'] as const

/** Lints at `config`: what is there twice, what is incomplete, and what the target does not take. */
export function lintRequestAuth(
  { config }: LookupRequest | ResponseRequest,
  target: NamedTarget,
  lint: LintSink,
): void {
  const { auth, headers = {}, url } = config ?? {}
  if (auth === undefined) return
  const sink = lint.at('auth')
  if (!target.isHttp) {
    sink.error(`${target.requests} takes no "auth"; leave it out.`)
    return
  }
  const [first, ...others] = HEADER_AUTH.filter((name) => auth[name] !== undefined)
  const { basic, tls } = auth
  if (first === undefined && tls === undefined) {
    sink.error('"auth" needs "basic", "bearer", "oauth2" or "tls"; without it, leave "auth" out.')
  }
  for (const other of others) sink.at(other).error(`A request has one Authorization, and "${first}" is it; keep one.`)
  const written = Object.keys(headers).find((name) => name.toLowerCase() === 'authorization')
  if (first !== undefined && written !== undefined) {
    lint.at('headers', written).error(`"auth.${first}" sets this header; leave one of them out.`)
  }
  if (basic?.username.includes(':')) sink.at('basic', 'username').error('The name of a user cannot hold a colon.')
  if (tls === undefined) return
  const { cert, key, ca } = tls
  if ((cert ?? key ?? ca) === undefined) sink.at('tls').error('"tls" needs "cert" and "key", or "ca", or all of them.')
  else if ((cert === undefined) !== (key === undefined)) {
    sink.at('tls').error('A certificate is used with its key: give "cert" and "key", or neither.')
  }
  if (/^\s*http:/i.test(url ?? '')) sink.at('tls').error('Only an https URL has certificates; this one is http.')
}
