/** Verification of the JSON Web Tokens of callers (RFC 7519). */
import type { JsonObject } from '../json.ts'

/** What a JSON Web Token must be. */
export type TokenRules = Readonly<{
  issuer?: string | undefined
  audience?: string | undefined
  /** Where the public keys of its issuer are, or the secret shared with it. */
  key: Readonly<{ jwksUrl: string }> | Readonly<{ secret: string }>
}>

export interface TokenVerifier {
  /**
   * Gives the claims of a token in the compact form. Rejects with a Failure: CREDENTIALS_REFUSED where it is not signed
   * by that key, not of this issuer and audience, or not valid now; IDENTITY_UNAVAILABLE where the keys cannot be fetched.
   */
  verify(token: string, rules: TokenRules): Promise<JsonObject>
}
