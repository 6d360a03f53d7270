/** The bodies that lookups and response requests send in place of nothing or the output: made of each message or item. */
import { takesBody } from '../../core/http.ts'
import type { Awaitable, Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Body } from '../../core/ports/destination.ts'
import type { Run } from '../../core/run.ts'
import type { Endpoint, LookupRequest } from '../../document/schema/schema.ts'
import type { Codec } from '../../formats/codec.ts'
import { CODECS, codecForFormat, codecForSending } from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import { createExpressionCompiler } from '../expressions.ts'
import { compileEntries } from '../mapping-entries.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { writePaid } from '../stages/serialise.ts'
import { andThen } from './for-each.ts'
import type { RequestCall } from './request-call.ts'
import { type CallScope, compileValue, createReader } from './request-parameters.ts'

/**
 * In: the message, with `item` inside a forEach. Undefined for none. Fails with SERIALISE_FAILED at what makes the body, and
 * as that does: MAPPING_FAILED, OUTPUT_TOO_LARGE, TRANSFORM_FAILED.
 */
type ReadBody = (scope: CallScope, run: Run) => Awaitable<Body | undefined>

/** `lint` is at the lookup. Undefined if it sends no body. */
export function compileLookupBody(
  { config, forEach, forwardExistingRequestBody }: LookupRequest,
  call: RequestCall,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): ReadBody | undefined {
  const { body } = config
  if (body === undefined) {
    if (forwardExistingRequestBody !== true) return undefined
    return forEach === undefined ? compileForward(endpoint, call) : compileItemBody(endpoint, call)
  }
  const stage = forEach === undefined ? 'lookup' : 'lookup-item'
  const sink = lint.at('config', 'body')
  if ([body.path, body.expression, body.mapping].filter((given) => given !== undefined).length !== 1) {
    sink.error('A body is made by one of "path", "expression" and "mapping"; give exactly one of them.')
    return undefined
  }
  const read =
    body.mapping === undefined
      ? compileValue(body, createReader(stage, endpoint, services, settings), sink)
      : compileEntries(
          body.mapping,
          stage,
          endpoint,
          sink.at('mapping'),
          createExpressionCompiler(endpoint, settings, services),
          services.observer?.mapping,
        )
  const { codec, contentType } = bodyFormat(endpoint, call)
  const isText = call.contentType !== undefined && codecForSending(call.contentType, endpoint) === undefined
  const write = (value: Json, run: Run): Body['content'] => {
    if (!isText || typeof value !== 'string') return writePaid(value, codec, run, sink.path)
    run.budget.spend(value.length, sink.path)
    return value
  }
  return (scope, run) =>
    andThen<Json | undefined, Body | undefined>(read(scope, run), (value) =>
      value === undefined || value === null ? undefined : { content: write(value, run), contentType },
    )
}

/** What a body is sent as: the format of the request's own Content-Type, else JSON. */
function bodyFormat(endpoint: Endpoint, { contentType }: RequestCall): Readonly<{ codec: Codec; contentType: string }> {
  return {
    codec: codecForSending(contentType, endpoint) ?? CODECS.json,
    contentType: contentType ?? CODECS.json.mediaType,
  }
}

/**
 * The incoming body for `forwardExistingRequestBody`. A body in the format that is sent goes out byte for byte, so that
 * neither digits nor the root element are lost. The body of a GET or DELETE was never parsed, and isn't sent on.
 */
function compileForward(endpoint: Endpoint, call: RequestCall): ReadBody {
  const { codec, contentType } = bodyFormat(endpoint, call)
  const { input } = endpoint.transformation
  const sameForm =
    takesBody(endpoint.endpoint.method) && input !== undefined && codecForFormat(input, endpoint) === codec
  return ({ requestBody, requestHeaders }, run) => {
    const { 'content-type': type } = requestHeaders as Readonly<Record<string, string>>
    const charset = parseMediaType(type ?? '')?.charset ?? 'utf-8'
    const asItCame = sameForm && run.body !== undefined && run.body.byteLength > 0 && charset === 'utf-8'
    return { content: asItCame ? run.body : writePaid(requestBody as Json, codec, run, call.path), contentType }
  }
}

function compileItemBody(endpoint: Endpoint, call: RequestCall): ReadBody {
  const { codec, contentType } = bodyFormat(endpoint, call)
  return ({ item }, run) => ({ content: writePaid(item as Json, codec, run, call.path), contentType })
}
