/** Reads bytes that came from outside as JSON or XML; the one place that knows which reader and which options. */
import type { Json } from '../domain/json.ts'
import { parseJson } from '../formats/json-read.ts'
import type { Syntax } from '../formats/media-type.ts'
import { decodeText } from '../formats/text.ts'
import { readXml, type XmlOptions } from '../formats/xml-read.ts'
import type { PipelineSettings } from './services.ts'

export const xmlOptions = (settings: PipelineSettings): XmlOptions => ({
  trim: settings.parserXmlTrim,
  explicitRoot: settings.parserXmlExplicitRoot,
  explicitArray: settings.parserXmlExplicitArray,
})

/** Throws Unreadable, whose message is safe to send. */
export function readBody(bytes: Uint8Array, syntax: Syntax, charset: string | undefined, xml: XmlOptions): Json {
  return syntax === 'json' ? parseJson(decodeText(bytes, charset)) : readXml(bytes, charset, xml)
}
