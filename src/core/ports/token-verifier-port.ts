/** Verification of the JSON Web Tokens of callers (RFC 7519). */
import type { JsonObject } from '../json.ts'

export type TokenRules = Readonly<{
  /** The required value of the claim `iss`; undefined for any. */
  issuer?: string | undefined
  /** A value that the claim `aud` must contain; undefined for any. */
  audience?: string | undefined
  /** Public keys of the issuer (RS, PS and ES 256 to 512, EdDSA), or a shared secret (HS256 to HS512). */
  key: Readonly<{ jwksUrl: string }> | Readonly<{ secret: string }>
}>

export interface TokenVerifier {
  /**
   * In: a token in the compact form. Out: its claims, `exp` among them.
   *
   * Fails with CREDENTIALS_REFUSED if the signature, issuer, audience or period of validity is wrong, and with
   * IDENTITY_UNAVAILABLE if the public keys cannot be fetched.
   */
  verify(token: string, rules: TokenRules): Promise<JsonObject>
}
