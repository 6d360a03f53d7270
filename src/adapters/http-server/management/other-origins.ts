/** Refuses changes by pages of other origins: a browser on this machine would send their calls. */
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../../domain/failure.ts'

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/**
 * For calls without a `Content-Type` that makes a browser ask first: the browser's own account of the page counts
 * (https://www.w3.org/TR/fetch-metadata/), else `Origin`. Fails with MANAGEMENT_REFUSED.
 */
export async function refuseOtherOrigins({ method, headers }: FastifyRequest): Promise<void> {
  if (!SAFE.includes(method)) refuseOtherPages({ headers })
}

/** The same for a call of any method: a page cannot read what it gets, but could use up what is bounded. */
export function refuseOtherPages({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const site = headers['sec-fetch-site']
  const isOther =
    site === undefined
      ? headers.origin !== undefined && hostOf(headers.origin) !== headers.host
      : site === 'cross-site' || site === 'same-site'
  if (isOther) throw new Failure('MANAGEMENT_REFUSED', 'Pages of other origins may not do this.')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
