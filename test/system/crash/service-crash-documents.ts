/** The endpoints of the crash run over HTTP: each carries its own checksum and answers with what it keeps. */
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { sealed, sealOf } from './crash-documents.ts'

export const TORN = 'torn'

/** What an endpoint answers to any message. */
export type CrashAnswer = Readonly<{ number: number; kept?: JsonObject }>

export const routeOf = (number: Json | undefined): string => `/crash/${number}`

/** A version of the endpoint of that name: its route and its constants report the number. */
export function crashEndpoint(name: string, content: Readonly<{ number: number; stream: number; payload: string }>) {
  const constants = sealed(content)
  const document = {
    name,
    endpoint: { pattern: routeOf(content.number) },
    transformation: { input: 'JSON', output: 'JSON' },
    constants,
    inputMapping: { 'constants.number': 'number', 'state.requestBody.kept': 'kept' },
    state: { extract: { requestBody: { kept: 'kept' } } },
  }
  return { document, value: constants.checksum }
}

/** The version of a stored document: TORN where its parts are not of one version. */
export function versionOf({ endpoint, constants }: JsonObject): string {
  const { pattern } = endpoint as JsonObject
  const content = constants as JsonObject
  return pattern === routeOf(content.number) ? (sealOf(content) ?? TORN) : TORN
}

/** Where the state of an endpoint is accounted: removing the endpoint takes it along. */
export const keptOf = (name: string): string => `${name}/kept`
