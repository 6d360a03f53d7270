import type { Endpoint } from '../../config/schema.ts'
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Mapped, Serialised } from '../../domain/message.ts'
import { syntaxOfFormat } from '../../formats/media-type.ts'
import { buildXml, Unwritable } from '../../formats/xml.ts'
import type { Stage } from '../chain.ts'
import type { Syntax } from '../read-body.ts'

/**
 * Writes the mapped output in the format of `transformation.output`.
 *
 * In: `responseBody`. Out: adds `output`, the text. Fails: SERIALISE_FAILED, naming the place in the output.
 */
export function compileSerialise(endpoint: Endpoint): Stage<Mapped, Serialised> {
  const syntax = syntaxOfFormat(endpoint.transformation.output)
  return (message) => ({ ...message, output: write(message.responseBody, syntax) })
}

/** A value as JSON or XML text. Fails with SERIALISE_FAILED. */
export function write(value: Json, syntax: Syntax): string {
  if (syntax === 'json') return JSON.stringify(value)
  try {
    return buildXml(value)
  } catch (thrown) {
    if (!(thrown instanceof Unwritable)) throw thrown
    throw new Failure('SERIALISE_FAILED', thrown.message, { path: 'transformation.output', cause: thrown })
  }
}
