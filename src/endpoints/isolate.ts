/** Compiles what of a document runs in isolated processes, before the document itself is compiled. */
import { checkDocument } from '../config/checks/check-document.ts'
import type { Failure } from '../domain/failure.ts'
import type { Json } from '../domain/json.ts'
import type { Services } from '../pipeline/services.ts'

/**
 * The services for compiling this document; the same where nothing of it runs elsewhere. Fails with OVERLOADED where no
 * process had the time, or at once where it would have to wait for one and `starved` says that it must not.
 */
export async function isolate(raw: Json, services: Services, starved?: Failure): Promise<Services> {
  if (services.sandbox === undefined) return services
  const { name, inputTransforms, inputValidation: schema } = checkDocument(raw).endpoint
  const expressions = Object.entries(inputTransforms ?? {})
  if (expressions.length === 0 && schema === undefined) return services
  if (starved !== undefined) throw starved
  return { ...services, sandboxed: await services.sandbox.compile({ endpoint: name, expressions, schema }) }
}
