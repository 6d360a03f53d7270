/** Keeps pages of other origins from causing anything here: a browser on this machine would send their calls for them. */
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../../domain/failure.ts'

const SAFE = ['GET', 'HEAD', 'OPTIONS']

/**
 * Where a call needs no `Content-Type` that a browser asks leave for, what the browser says of the page counts
 * (https://www.w3.org/TR/fetch-metadata/; `Origin` where it says nothing). Fails with MANAGEMENT_REFUSED.
 */
export async function refuseOtherOrigins({ method, headers }: FastifyRequest): Promise<void> {
  if (SAFE.includes(method)) return
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
