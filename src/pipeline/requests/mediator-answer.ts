/** Takes the wrapper off the answer of an OpenHIM mediator, so that a lookup reads what the mediator answered. */
import { FRAMING_HEADERS } from '../../core/http.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import { readWrapper } from '../../formats/openhim-wrapper.ts'

/**
 * In: an answer. Out: status, headers and body of the answer in the wrapper, and the orchestrations beside it; the same
 * answer if it has no wrapper, or one whose parts have wrong types.
 */
export function withoutWrapper(answer: OutboundAnswer): OutboundAnswer {
  const { 'content-type': type } = answer.headers
  if (typeof type !== 'string' || answer.isCoded === true) return answer
  const wrapper = readWrapper(type, answer.body)
  if (wrapper === undefined) return answer
  const { status = answer.status, body, orchestrations } = wrapper
  const headers = Object.fromEntries(Object.entries(wrapper.headers).filter(([name]) => !isOfTransfer(name)))
  if (typeof headers['content-type'] === 'string') headers['content-type'] = inUtf8(headers['content-type'])
  const { remark } = answer
  return { status, headers, body: Buffer.from(body), orchestrations, ...(remark === undefined ? {} : { remark }) }
}

/** The body is a text in the wrapper, whatever length and codings the mediator's own answer had. */
const isOfTransfer = (name: string): boolean => FRAMING_HEADERS.has(name) || name === 'content-encoding'

/** The charset of the header overrides that of an XML declaration too (RFC 7303 section 3.2). */
function inUtf8(contentType: string): string {
  const media = parseMediaType(contentType)
  return media === undefined ? contentType : `${media.type}/${media.subtype}; charset=utf-8`
}
