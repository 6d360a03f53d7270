/** The values of secrets, from the environment, as far as documents may name them. */
import { Failure } from '../../domain/failure.ts'
import type { SecretSource } from '../../domain/ports.ts'

type Environment = Readonly<Record<string, string | undefined>>

const REFERENCE = /\$\{env:(CROSSWALK_SECRET_\w+)\}|\$\{(?:env|file):[^}]*\}/g

export function createSecretSource(env: Environment = process.env): SecretSource {
  return {
    resolve: (text) =>
      text.replace(REFERENCE, (reference, name: string | undefined) => {
        const value = name === undefined ? undefined : env[name]
        if (value !== undefined && value !== '') return value
        throw new Failure('SECRET_UNAVAILABLE', `The secret "${reference}" is not set, or may not be used.`)
      }),
  }
}
