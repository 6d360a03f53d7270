/** Compiles what of a document runs in isolated processes, before the document itself is compiled. */
import { checkDocument } from '../config/check.ts'
import type { Json } from '../domain/json.ts'
import type { Services } from '../pipeline/services.ts'

/** The services for compiling this document; the same where nothing of it runs elsewhere. */
export async function isolate(raw: Json, services: Services): Promise<Services> {
  if (services.sandbox === undefined) return services
  const { name, inputTransforms, inputValidation: schema } = checkDocument(raw).endpoint
  const expressions = Object.entries(inputTransforms ?? {})
  return { ...services, sandboxed: await services.sandbox.compile({ endpoint: name, expressions, schema }) }
}
