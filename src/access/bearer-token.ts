/** Credentials as HTTP carries them (RFC 9110 §11, RFC 6750), and the failures for those that are missing or wrong. */
import { Failure } from '../domain/failure.ts'

/** `Bearer` and a token of the characters that RFC 6750 allows; undefined where the header is anything else. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? '')?.[1]

/** 401 with the challenge that HTTP demands. Never repeats what was given. */
export const unauthorised = (sentence: string, challenge: string): Failure =>
  new Failure('CREDENTIALS_REFUSED', sentence, { headers: { 'www-authenticate': challenge } })
